import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DesiredDeployment } from '@runyard/contracts';
import type { Sealer } from '@runyard/sealing';
import type { PullCredential } from '../drivers/pull-credential.ts';
import type { Counts } from '../drivers/scale-bounds.ts';
import { unlessGone } from '../files/unless-gone.ts';

/** What a data plane knows by itself when it starts and the line to its control plane is down. */
export interface DataPlaneState {
  /** Tells this data plane from another one with the same listener. */
  instanceId: string;
  deployments: DesiredDeployment[];
  /** By which deployments check their callers; null until the control plane has said it. */
  keySet: { keys: Record<string, unknown>[] } | null;
  /** What is known here alone, by deployment. */
  own: Record<string, OwnFacts>;
}

export interface OwnFacts {
  /** Password of the database made here, sealed. */
  sealedDatabasePassword?: string;
  /** What serves checks its callers itself. */
  hasCustomAuth?: boolean;
  /** Where it answers; of what goes on without this process it is so after a restart too. */
  upstreams?: string[];
  /** How many processes it was given last. */
  counts?: Counts;
  /** Its images of the platform's registry, by name: what they were pulled with last. */
  pulledWith?: Record<string, PullCredential>;
}

const PLACE = 'data-plane/state';

/** The state in a file, sealed whole: it holds the secrets of deployments. */
export class KeptState {
  readonly #path: string;
  readonly #sealer: Sealer;
  #saving: Promise<void> = Promise.resolve();
  readonly state: DataPlaneState;

  private constructor(path: string, sealer: Sealer, state: DataPlaneState) {
    this.#path = path;
    this.#sealer = sealer;
    this.state = state;
  }

  static async open(dataDir: string, sealer: Sealer): Promise<KeptState> {
    await mkdir(dataDir, { recursive: true });
    const path = join(dataDir, 'data-plane.sealed');
    const sealed = await unlessGone(readFile(path, 'utf8'));
    if (sealed !== null) return new KeptState(path, sealer, JSON.parse(sealer.open(sealed, PLACE)));
    const kept = new KeptState(path, sealer, { instanceId: randomUUID(), deployments: [], keySet: null, own: {} });
    await kept.save();
    return kept;
  }

  /** To be changed, and saved then. */
  own(deploymentId: string): OwnFacts {
    const { own } = this.state;
    own[deploymentId] ??= {};
    return own[deploymentId];
  }

  /** Resolves when what it is now has reached the disk. */
  save(): Promise<void> {
    const saved = this.#saving.then(async () => {
      const aside = `${this.#path}.part`;
      const sealed = this.#sealer.seal(JSON.stringify(this.state), PLACE);
      await writeFile(aside, sealed, { mode: 0o600, flush: true });
      await rename(aside, this.#path);
    });
    this.#saving = saved.catch(() => undefined);
    return saved;
  }
}
