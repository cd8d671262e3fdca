import { type Principal, tenantOf } from '@runyard/service-kit';
import type { Database } from '../database/database.ts';
import { ContinuousService } from './continuous-service.ts';
import { ListenerSpeaker } from './listener-speaker.ts';
import { PlatformSpeaker } from './platform-speaker.ts';
import type { Speaker } from './speaker.ts';

/** Finds for whom the caller of a data plane's operation speaks. */
export class Speakers {
  readonly #database: Database;
  readonly #listenerLeaseMs: number;
  readonly #platformLeaseMs: number;
  readonly #service: ContinuousService;

  constructor(options: { database: Database; listenerLeaseMs: number; platformLeaseMs: number }) {
    this.#database = options.database;
    this.#listenerLeaseMs = options.listenerLeaseMs;
    this.#platformLeaseMs = options.platformLeaseMs;
    this.#service = new ContinuousService(options.platformLeaseMs);
  }

  /** @param id of the path: that of a listener, or of a data plane of the platform itself */
  of(caller: Principal, id: string): Speaker {
    const database = this.#database;
    return caller.kind === 'data_plane'
      ? new PlatformSpeaker({ database, leaseMs: this.#platformLeaseMs, service: this.#service }, id)
      : new ListenerSpeaker({ database, leaseMs: this.#listenerLeaseMs }, tenantOf(caller), id);
  }
}
