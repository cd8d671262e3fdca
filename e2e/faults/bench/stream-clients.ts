import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { BenchRun } from './deployment.ts';
import { anySignal, type FollowedEvent, followStream } from './event-follower.ts';
import type { Ledger } from './ledger.ts';
import type { Random } from './random.ts';
import { StreamUnion } from './stream-union.ts';

export interface StreamClientsOptions {
  /** The deployment's URL for clients. */
  url: string;
  headers: Record<string, string>;
  ledger: Ledger;
  random: Random;
  input: { steps: number; sleepMs: number; events: number; bytes?: number };
}

/** A stream that ended, as a client got it. */
export interface FollowedStream {
  run: BenchRun;
  union: StreamUnion;
  reconnects: number;
}

const RETRY_MS = 50;
/** Milliseconds without an end after which a stream counts as endless. */
const PATIENCE_MS = 90_000;
const FROM_THE_START = '-1';

/** Clients that disconnect at random, and resume where they were after any other cut. */
export class StreamClients {
  readonly followed: FollowedStream[] = [];
  readonly followedThreads: { threadId: string; runs: BenchRun[]; union: StreamUnion }[] = [];
  /** Streams that did not end, and results that were not those of the run. */
  readonly faults: string[] = [];
  /** Milliseconds that new clients waited for the first event of runs that had some. */
  readonly firstEventMs: number[] = [];
  readonly #options: StreamClientsOptions;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>[] = [];
  /** Runs in flight that are known to have events. */
  readonly #withEvents = new Set<BenchRun>();

  constructor(options: StreamClientsOptions) {
    this.#options = options;
  }

  /** Starts clients that follow one run after another. */
  followRuns(clients: number): void {
    this.#start(clients, () => this.#followOneRun());
  }

  /** Starts clients that follow a thread over some runs, and join each of these too. */
  followThreads(clients: number): void {
    this.#start(clients, () => this.#followOneThread());
  }

  /** Starts clients that join a run in flight, stay for its first event, and leave. */
  lookIn(clients: number): void {
    this.#start(clients, () => this.#lookIn());
  }

  /** Resolves when everything begun has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#running);
  }

  #start(clients: number, once: () => Promise<void>): void {
    const again = async () => {
      while (!this.#stopping.signal.aborted) await once();
    };
    for (let client = 0; client < clients; client += 1) this.#running.push(again());
  }

  async #followOneRun(): Promise<void> {
    const run = await this.#createRun(randomUUID(), this.#options.input.steps);
    if (!run) return pause(RETRY_MS);
    const union = new StreamUnion();
    const until = Date.now() + PATIENCE_MS;
    for (let reconnects = 0; Date.now() < until; reconnects += 1) {
      const onEvent = () => void this.#withEvents.add(run);
      const { end, status } = await this.#connect(`/threads/${run.threadId}/runs/${run.runId}/stream`, union, onEvent);
      if (end === 'whole') {
        this.#withEvents.delete(run);
        this.followed.push({ run, union, reconnects });
        return;
      }
      if (status !== 200) await pause(RETRY_MS);
    }
    this.#withEvents.delete(run);
    this.faults.push(`the stream of run ${run.runId} never ended`);
  }

  async #followOneThread(): Promise<void> {
    const threadId = await this.#createThread();
    if (threadId === undefined) return pause(RETRY_MS);
    const union = new StreamUnion();
    const done = new Set<string>();
    const leaving = new AbortController();
    const following = this.#followThread(threadId, union, done, leaving.signal);
    const runs: BenchRun[] = [];
    for (let count = this.#options.random.integer(1, 3); count > 0; count -= 1) {
      // The thread keeps the steps of earlier runs: each run has as many of its own.
      const run = await this.#createRun(threadId, this.#options.input.steps * (runs.length + 1));
      if (!run) continue;
      runs.push(run);
      await this.#join(run);
    }
    const until = Date.now() + PATIENCE_MS;
    while (runs.some(({ runId }) => !done.has(runId)) && Date.now() < until) await pause(RETRY_MS);
    leaving.abort();
    await following;
    const untold = runs.filter(({ runId }) => !done.has(runId));
    for (const { runId } of untold) this.faults.push(`the stream of thread ${threadId} never told the end of ${runId}`);
    if (untold.length === 0 && runs.length > 0) this.followedThreads.push({ threadId, runs, union });
  }

  async #followThread(threadId: string, union: StreamUnion, done: Set<string>, left: AbortSignal): Promise<void> {
    const onEvent = ({ event, data }: FollowedEvent) => {
      const { status, run_id } = (data ?? {}) as { status?: string; run_id?: string };
      if (event === 'metadata' && status === 'run_done' && run_id) done.add(run_id);
    };
    while (!left.aborted) {
      const { status } = await this.#connect(`/threads/${threadId}/stream`, union, onEvent, left);
      if (status !== 200) await pause(RETRY_MS);
    }
  }

  /** Requests the result until it gets one. */
  async #join({ threadId, runId, steps }: BenchRun): Promise<void> {
    const { url, headers } = this.#options;
    const until = Date.now() + PATIENCE_MS;
    while (Date.now() < until) {
      const result = await fetch(`${url}/threads/${threadId}/runs/${runId}/join`, { headers })
        .then(async (response) => (response.ok ? ((await response.json()) as { done?: number[] }) : undefined))
        .catch(() => undefined);
      if (result) {
        if (result.done?.length !== steps) this.faults.push(`run ${runId} was joined to ${JSON.stringify(result)}`);
        return;
      }
      await pause(RETRY_MS);
    }
    this.faults.push(`run ${runId} could not be joined`);
  }

  async #lookIn(): Promise<void> {
    const { url, headers, random } = this.#options;
    await pause(random.integer(50, 400));
    if (this.#withEvents.size === 0) return;
    const { threadId, runId } = random.pick([...this.#withEvents]);
    const leaving = new AbortController();
    const patience = AbortSignal.timeout(20_000);
    const begunAt = performance.now();
    await followStream(`${url}/threads/${threadId}/runs/${runId}/stream`, {
      headers,
      lastEventId: FROM_THE_START,
      signal: anySignal(leaving.signal, patience),
      onEvent: () => {
        if (leaving.signal.aborted) return;
        this.firstEventMs.push(performance.now() - begunAt);
        leaving.abort();
      },
    });
    // A connection that another fault cut tells nothing; one that stayed open without an event does.
    if (patience.aborted && !leaving.signal.aborted) this.firstEventMs.push(performance.now() - begunAt);
  }

  /** Opens one connection, from the client's position; the client itself cuts seven of ten. */
  async #connect(path: string, union: StreamUnion, onEvent: (event: FollowedEvent) => void, left?: AbortSignal) {
    const { url, headers, random } = this.#options;
    const cut = new AbortController();
    const leavesAfter = random.chance(0.7) ? random.integer(2, 40) : Number.POSITIVE_INFINITY;
    let events = 0;
    const segment = await followStream(url + path, {
      headers,
      lastEventId: union.lastId ?? FROM_THE_START,
      signal: anySignal(cut.signal, left),
      onEvent: (event) => {
        // A client that has left does not get what is still in the buffer.
        if (cut.signal.aborted) return;
        union.add(event);
        onEvent(event);
        events += 1;
        if (events >= leavesAfter) cut.abort();
      },
    });
    // The rest of the stream may have been in the last packet.
    return cut.signal.aborted ? { ...segment, end: 'cut' as const } : segment;
  }

  async #createThread(): Promise<string | undefined> {
    const answer = await this.#post('/threads', {});
    return (answer as { thread_id?: string } | undefined)?.thread_id;
  }

  async #createRun(threadId: string, steps: number): Promise<BenchRun | undefined> {
    const { ledger, input } = this.#options;
    const body = ledger.runRequest({ ...input, steps }, { stream_resumable: true, stream_mode: ['custom', 'updates'] });
    const answer = await this.#post(`/threads/${threadId}/runs`, body);
    const runId = (answer as { run_id?: string } | undefined)?.run_id;
    return runId === undefined ? undefined : { runId, threadId, steps };
  }

  /**
   * Sends until it is answered, under one key: a run without an answer would add to its thread what no client expects.
   */
  async #post(path: string, body: unknown): Promise<unknown> {
    const { url, headers } = this.#options;
    const key = randomUUID();
    const until = Date.now() + PATIENCE_MS;
    while (Date.now() < until) {
      const answer: unknown = await fetch(url + path, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(20_000),
      })
        .then((response) => (response.ok ? response.json() : undefined))
        .catch(() => undefined);
      if (answer) return answer;
      await pause(RETRY_MS);
    }
    this.faults.push(`POST ${path} was not answered`);
    return undefined;
  }
}
