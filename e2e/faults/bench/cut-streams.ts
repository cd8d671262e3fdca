import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { BenchRun } from './deployment.ts';
import { followStream } from './event-follower.ts';
import type { Ledger, LedgerInput } from './ledger.ts';
import type { Random } from './random.ts';

export interface CutStreamsOptions {
  ledger: Ledger;
  random: Random;
  input: LedgerInput;
  /** The number of clients that stream at once. */
  clients: number;
  /** Returns the agent-apis that are up at the moment; each connection takes one of them. */
  urls(): readonly string[];
  headers?: Record<string, string>;
}

/** Milliseconds in which a client tries to resume a stream. */
const PATIENCE_MS = 60_000;
/** Milliseconds after which a connection, longer than any run takes, counts as stuck. */
const STILL_MS = 30_000;
const RETRY_MS = 100;

/**
 * Clients that each stream one resumable run after another: they cut their connections at random, and resume where they
 * were at any agent-api, as they do when another fault cuts them.
 */
export class CutStreams {
  readonly accepted: BenchRun[] = [];
  /** Differences between what clients got and the run's whole stream, and streams that could not be resumed. */
  readonly faults: string[] = [];
  /** The number of connections that ended before their stream did. */
  cuts = 0;
  readonly #options: CutStreamsOptions;
  readonly #stopping = new AbortController();
  readonly #running: Promise<unknown>;

  constructor(options: CutStreamsOptions) {
    this.#options = options;
    this.#running = Promise.all(Array.from({ length: options.clients }, () => this.#streamRuns()));
  }

  /** Resolves when every stream that was begun has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #streamRuns(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const begun = await this.#begin();
      if (!begun) {
        await pause(RETRY_MS);
        continue;
      }
      const { run, ids, isWhole } = begun;
      this.accepted.push(run);
      const fault = isWhole || (await this.#goOn(run, ids)) ? await this.#compare(run, ids) : 'was not gone on with';
      if (fault) this.faults.push(`the stream of ${run.runId} ${fault}`);
    }
  }

  /** Undefined when no run was accepted, or when that is unknown. */
  async #begin(): Promise<{ run: BenchRun; ids: string[]; isWhole: boolean } | undefined> {
    const { ledger, input } = this.#options;
    const threadId = randomUUID();
    const overrides = { stream_resumable: true, stream_mode: ['custom'], on_disconnect: 'continue' };
    const ids: string[] = [];
    const { location, end, events } = await this.#connect(`/threads/${threadId}/runs/stream`, ids, {
      method: 'POST',
      body: ledger.runRequest(input, overrides),
    });
    const runId = location?.split('/').at(-1) ?? events.map(({ data }) => (data as { run_id?: string })?.run_id)[0];
    if (runId === undefined) return undefined;
    return { run: { runId, threadId, steps: input.steps }, ids, isWhole: end === 'whole' };
  }

  /** Returns false when the stream did not reach its end in time. */
  async #goOn(run: BenchRun, ids: string[]): Promise<boolean> {
    const until = Date.now() + PATIENCE_MS;
    while (Date.now() < until) {
      const { end, status } = await this.#connect(streamPath(run), ids);
      if (end === 'whole') return true;
      if (status !== 200) await pause(RETRY_MS);
    }
    return false;
  }

  async #connect(path: string, ids: string[], request: { method?: 'POST'; body?: unknown } = {}) {
    const { random, urls, headers = {} } = this.#options;
    const cut = new AbortController();
    const begun = Date.now();
    const late = setTimeout(() => {
      const since = new Date(begun).toISOString();
      this.faults.push(`${request.method ?? 'GET'} ${path}, since ${since}: stood still after ${events} events`);
      cut.abort();
    }, STILL_MS);
    const isCutAfter = random.integer(2, 25);
    const isCut = random.chance(0.7);
    let events = 0;
    const segment = await followStream(random.pick(urls()) + path, {
      ...request,
      headers,
      lastEventId: request.method ? undefined : (ids.at(-1) ?? FROM_THE_START),
      signal: cut.signal,
      onEvent: ({ id, event }) => {
        // A client that has left does not get what is still in the buffer.
        if (cut.signal.aborted) return;
        if (id && event === OF_THE_GRAPH) ids.push(id);
        events += 1;
        if (isCut && events === isCutAfter) cut.abort();
      },
    });
    clearTimeout(late);
    // The cut also counts when the last bytes had come already.
    if (cut.signal.aborted) segment.end = 'cut';
    if (segment.end === 'cut') this.cuts += 1;
    return segment;
  }

  /** Compares what a client got in pieces with what another one gets at once. */
  async #compare(run: BenchRun, ids: readonly string[]): Promise<string | undefined> {
    const { random, urls, headers = {} } = this.#options;
    const until = Date.now() + PATIENCE_MS;
    while (Date.now() < until) {
      const at = random.pick(urls()) + streamPath(run);
      const signal = AbortSignal.timeout(STILL_MS);
      const { events, end } = await followStream(at, { headers, lastEventId: FROM_THE_START, signal });
      if (end === 'whole')
        return difference(
          ids,
          events.filter(({ event }) => event === OF_THE_GRAPH).map(({ id }) => id ?? 'none'),
        );
      await pause(RETRY_MS);
    }
    return 'could not be had once more';
  }
}

const FROM_THE_START = '-1';
/**
 * The events that the graph writes; the server's own, such as the one with the run's id, come with every connection.
 */
const OF_THE_GRAPH = 'custom';

function streamPath({ threadId, runId }: BenchRun): string {
  return `/threads/${threadId}/runs/${runId}/stream?stream_mode=custom`;
}

function difference(got: readonly string[], whole: readonly string[]): string | undefined {
  if (whole.length === 0) return 'is empty';
  const repeated = got.length - new Set(got).size;
  const missing = whole.filter((id) => !got.includes(id)).length;
  if (repeated > 0 || missing > 0)
    return `came with ${missing} of ${whole.length} events missing, ${repeated} repeated`;
  return got.join() === whole.join()
    ? undefined
    : `came in another order or with more: ${got.length}, not ${whole.length}`;
}
