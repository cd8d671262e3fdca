import type { ServerResponse } from 'node:http';
import {
  AppError,
  excludeFromInFlight,
  type Logger,
  type Principal,
  tenantOf,
  UnavailableError,
} from '@runyard/service-kit';
import type { VisibleDeployments } from '../access/visible-deployments.ts';
import { ChangeStream } from './change-stream.ts';
import type { JournalChanges } from './journal-changes.ts';

interface Dependencies {
  changes: Pick<JournalChanges, 'listen'>;
  visible: Pick<VisibleDeployments, 'filter'>;
  /** Streams of this process at the same time. */
  streamsMax: number;
}

interface ChangesRequest {
  caller: Principal;
  /** The deployments that the client asks for, in any case of letters; undefined: all. */
  deploymentIds: readonly string[] | undefined;
  res: ServerResponse;
  log: Logger;
}

/** The open streams of hints of this process. */
export class ChangeStreams {
  readonly #dependencies: Dependencies;
  readonly #open = new Set<ChangeStream>();
  #places = 0;
  #isEnding = false;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /** The number of streams that are open, or about to be. */
  get size(): number {
    return this.#places;
  }

  /**
   * Begins a stream. It takes no connection of the database while it is open.
   *
   * @throws ForbiddenError, NotFoundError for a caller in no workspace; UnavailableError when there are too many; Error
   * when the database cannot be asked
   */
  async open({ caller, deploymentIds, res, log }: ChangesRequest): Promise<void> {
    const { changes, visible } = this.#dependencies;
    const { workspaceId } = tenantOf(caller);
    this.#takePlace(res);
    excludeFromInFlight(res);
    let stream: ChangeStream | undefined;
    const stopListening = await changes.listen(workspaceId, (ids) => stream?.hear(ids));
    if (res.closed) return stopListening();
    res.once('close', () => {
      stopListening();
      if (stream) this.#open.delete(stream);
    });
    stream = new ChangeStream(res, {
      deploymentIds: deploymentIds && new Set(deploymentIds.map((id) => id.toLowerCase())),
      findVisible: (ids) => visible.filter(caller, ids),
      onHeldBack: (error) =>
        log[error instanceof AppError ? 'debug' : 'warn']('hints of changes held back, will retry', { error }),
    });
    this.#open.add(stream);
    if (this.#isEnding) stream.end();
  }

  /** Ends all streams, and those that are about to begin: the process stops. */
  endAll(): void {
    this.#isEnding = true;
    for (const stream of this.#open) stream.end();
  }

  /** Takes a place until the answer is closed. */
  #takePlace(res: ServerResponse): void {
    if (this.#places >= this.#dependencies.streamsMax) {
      throw new UnavailableError('Too many streams are open at the moment', { code: 'too_many_open_streams' });
    }
    // A client that has left already sends no other `close`.
    if (res.closed) return;
    this.#places += 1;
    res.once('close', () => {
      this.#places -= 1;
    });
  }
}
