import type { ServerResponse } from 'node:http';
import {
  AppError,
  excludeFromInFlight,
  type Logger,
  type Principal,
  type StreamPlaces,
  tenantOf,
} from '@runyard/service-kit';
import type { VisibleDeployments } from '../access/visible-deployments.ts';
import { ChangeStream } from './change-stream.ts';
import type { JournalChanges } from './journal-changes.ts';

interface Dependencies {
  changes: Pick<JournalChanges, 'listen'>;
  visible: Pick<VisibleDeployments, 'filter'>;
  /** The places for streams of this process. */
  places: StreamPlaces;
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
  #isEnding = false;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Begins a stream. It takes no connection of the database while it is open.
   *
   * @throws ForbiddenError, NotFoundError for a caller in no workspace; UnavailableError when there are too many; Error
   * when the database cannot be asked
   */
  async open({ caller, deploymentIds, res, log }: ChangesRequest): Promise<void> {
    const { changes, visible, places } = this.#dependencies;
    const { workspaceId } = tenantOf(caller);
    places.take(res);
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
}
