import type { RunSelection } from '@runyard/run-engine';

/** Milliseconds after which a request counts as waiting: most are answered sooner. */
const WAITS_AFTER_MS = 50;

/** Matches run and thread ids in paths of the API, and in the headers that locate a run. */
const UUID = '([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?:[/?]|$)';
const THREAD = new RegExp(`/threads/${UUID}`, 'i');
const RUN = new RegExp(`/runs/${UUID}`, 'i');

interface WaitingRequest {
  runId: string;
  threadId: string | undefined;
  awaitedRunId: string | undefined;
  isWaiting: boolean;
  timer: NodeJS.Timeout;
}

/** One request of a run's code to its own deployment. */
export interface TrackedRequest {
  /** Called when the answer has begun; `path` names its run. */
  setLocation(path: string | undefined): void;
  end(): void;
}

/** Tracks which runs in flight wait for an answer of their own deployment, and for which runs and threads. */
export class WaitingRuns {
  readonly #onWaiting: () => void;
  readonly #requests = new Set<WaitingRequest>();

  /** @param onWaiting called when a run has begun to wait, or when it is known better what for */
  constructor(onWaiting: () => void) {
    this.#onWaiting = onWaiting;
  }

  begin(runId: string, path: string): TrackedRequest {
    const request: WaitingRequest = {
      runId,
      ...parseLocation(path),
      isWaiting: false,
      timer: setTimeout(() => {
        request.isWaiting = true;
        this.#onWaiting();
      }, WAITS_AFTER_MS).unref(),
    };
    this.#requests.add(request);
    return {
      setLocation: (path) => {
        const { threadId, awaitedRunId } = parseLocation(path ?? '');
        if (threadId === request.threadId && awaitedRunId === request.awaitedRunId) return;
        request.threadId ??= threadId;
        request.awaitedRunId ??= awaitedRunId;
        if (request.isWaiting) this.#onWaiting();
      },
      end: () => {
        clearTimeout(request.timer);
        this.#requests.delete(request);
      },
    };
  }

  /** The ids of the runs that wait. */
  get ids(): Set<string> {
    return new Set(this.#waiting().map(({ runId }) => runId));
  }

  /**
   * The runs and threads they wait for, as far as known; undefined for none. A run may be behind others of its thread.
   */
  get awaited(): RunSelection | undefined {
    const waiting = this.#waiting();
    const threadIds = waiting.flatMap(({ threadId }) => threadId ?? []);
    const runIds = waiting.flatMap(({ threadId, awaitedRunId }) => (threadId ? [] : (awaitedRunId ?? [])));
    return threadIds.length + runIds.length > 0 ? { threadIds, runIds } : undefined;
  }

  #waiting(): WaitingRequest[] {
    return [...this.#requests].filter(({ isWaiting }) => isWaiting);
  }
}

function parseLocation(path: string): Pick<WaitingRequest, 'threadId' | 'awaitedRunId'> {
  return { threadId: THREAD.exec(path)?.[1], awaitedRunId: RUN.exec(path)?.[1] };
}
