import type { RunEngine } from '@runyard/run-engine';
import { ByteBudget, type Metrics, UnavailableError } from '@runyard/service-kit';
import { isFailure } from '../streams/run-end.ts';
import { EMPTY_RESULT, errorResult, type RunResult } from './run-result.ts';

/** Results up to this size go along with the end of their run's stream: the number of open answers bounds them. */
export const SMALL_RESULT_BYTES = 64 * 1024;

/** Takes room for content of a state until the signal; a little needs none. Returns false when the signal came first. */
export async function holdContent(budget: ByteBudget, bytes: number, until: AbortSignal): Promise<boolean> {
  return bytes <= SMALL_RESULT_BYTES ? !until.aborted : budget.hold(bytes, until);
}

interface RunKey {
  threadId: string;
  runId: string;
}

export interface RunResultsOptions {
  engine: Pick<RunEngine, 'readOutcome'>;
  /** Bytes of all large results that answers hold. One that is larger counts as so many, and is held alone. */
  maxBytes: number;
}

/**
 * Holds results of ended runs for the answers to `wait` and `join`. A large one is read once for all answers in flight
 * that need it, and counts against a budget of the process until the last of them is closed.
 */
export class RunResults {
  /** The bytes that answers hold; others that hold results count theirs here too. */
  readonly budget: ByteBudget;
  readonly #options: RunResultsOptions;
  readonly #shared = new Map<string, SharedResult>();

  constructor(options: RunResultsOptions) {
    this.#options = options;
    this.budget = new ByteBudget(options.maxBytes);
  }

  observe(metrics: Metrics): void {
    metrics.gauge(
      'lg_api_results_held_bytes',
      'Results of runs that answers hold, those of up to 64 KiB left out.',
      [],
      (gauge) => gauge.set(this.budget.heldBytes),
    );
  }

  /**
   * Returns the JSON text of a run's result, held until the signal; undefined when that came first. It waits for room
   * in the budget; where `mayRefuse` says so the request is refused instead. @throws UnavailableError
   */
  async hold(run: RunKey, closed: AbortSignal, mayRefuse = () => false): Promise<RunResult | undefined> {
    const outcome = await this.#options.engine.readOutcome(run, SMALL_RESULT_BYTES);
    if (closed.aborted) return undefined;
    if (!outcome) return EMPTY_RESULT;
    const { status, error, values, valuesBytes } = outcome;
    if (isFailure(status) && error) return errorResult(error.error, error.message);
    if (values !== null || valuesBytes === 0) return values ?? EMPTY_RESULT;
    return this.#share(run, valuesBytes, mayRefuse).use(closed);
  }

  #share(run: RunKey, valuesBytes: number, mayRefuse: () => boolean): SharedResult {
    const known = this.#shared.get(run.runId);
    if (known) return known;
    const bytes = Math.min(valuesBytes, this.budget.maxBytes);
    if (!this.budget.hasRoomFor(bytes) && mayRefuse()) {
      throw new UnavailableError('Too many large results are being sent at the moment', {
        code: 'too_many_result_bytes',
      });
    }
    const shared = new SharedResult({
      bytes,
      budget: this.budget,
      read: async () => (await this.#options.engine.readOutcome(run))?.values ?? EMPTY_RESULT,
      onEnded: () => this.#shared.delete(run.runId),
    });
    this.#shared.set(run.runId, shared);
    return shared;
  }
}

interface SharedResultOptions {
  bytes: number;
  budget: ByteBudget;
  read(): Promise<Uint8Array>;
  /** Called once, when later users need another reading. */
  onEnded(): void;
}

/** One copy of a large result, for as long as somebody uses it. */
class SharedResult {
  readonly #options: SharedResultOptions;
  readonly #unused = new AbortController();
  readonly #json: Promise<Uint8Array | undefined>;
  #users = 0;

  constructor(options: SharedResultOptions) {
    this.#options = options;
    this.#json = this.#read();
    // Every user gets the failure; without users nobody has to.
    this.#json.catch(() => this.#end());
  }

  async use(closed: AbortSignal): Promise<Uint8Array | undefined> {
    this.#users += 1;
    closed.addEventListener('abort', () => this.#leave(), { once: true });
    const json = await this.#json;
    return closed.aborted ? undefined : json;
  }

  #leave(): void {
    this.#users -= 1;
    if (this.#users === 0) this.#end();
  }

  #end(): void {
    if (this.#unused.signal.aborted) return;
    this.#unused.abort();
    this.#options.onEnded();
  }

  /** Takes the bytes before the reading, and gives them back when it has ended and nobody uses them. */
  async #read(): Promise<Uint8Array | undefined> {
    const { bytes, budget, read } = this.#options;
    const { signal } = this.#unused;
    if (!(await budget.takeInTurn(bytes, signal))) return undefined;
    const giveBack = () => budget.giveBack(bytes);
    try {
      return await read();
    } finally {
      if (signal.aborted) giveBack();
      else signal.addEventListener('abort', giveBack, { once: true });
    }
  }
}
