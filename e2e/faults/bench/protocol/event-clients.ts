import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { anySignal } from '../event-follower.ts';
import type { StreamClientsOptions } from '../stream-clients.ts';
import type { Connect } from './event-connections.ts';
import { EventUnion } from './event-union.ts';
import { startRun } from './start-run.ts';

/** A thread that a client followed over some runs. */
export interface FollowedEvents {
  threadId: string;
  runs: number;
  union: EventUnion;
}

const RETRY_MS = 50;
/** Milliseconds without an end after which a stream counts as endless. */
const PATIENCE_MS = 90_000;

/**
 * Clients of the event protocol (version 2) that each follow one thread after another: they start its runs by commands,
 * cut their connections at random, and go on where they were or ask for everything again.
 */
export class EventClients {
  readonly followed: FollowedEvents[] = [];
  /** Threads whose runs were not started, or never told to have ended. */
  readonly unfinished: FollowedEvents[] = [];
  /** The number of times a client's connection ended before its runs had, whoever cut it. */
  cuts = 0;
  readonly #options: StreamClientsOptions;
  readonly #stopping = new AbortController();
  readonly #running: Promise<unknown>[] = [];

  constructor(options: StreamClientsOptions) {
    this.#options = options;
  }

  /** Starts clients that connect in this way. */
  follow(clients: number, connect: Connect): void {
    for (let client = 0; client < clients; client += 1) this.#running.push(this.#followThreads(connect));
  }

  /** Resolves when everything begun has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#running);
  }

  async #followThreads(connect: Connect): Promise<void> {
    while (!this.#stopping.signal.aborted) await this.#followOneThread(connect);
  }

  async #followOneThread(connect: Connect): Promise<void> {
    const { random, input, ledger, url, headers } = this.#options;
    const threadId = randomUUID();
    const union = new EventUnion();
    const leaving = new AbortController();
    const following = this.#stayConnected(connect, threadId, union, leaving.signal);
    const until = Date.now() + PATIENCE_MS;
    const wanted = random.integer(1, 3);
    let runs = 0;
    while (runs < wanted && Date.now() < until) {
      // The thread keeps the steps of earlier runs: each run has as many of its own.
      const params = ledger.runRequest({ ...input, steps: input.steps * (runs + 1) });
      if (!(await startRun({ url, headers, threadId, params, until }))) break;
      runs += 1;
      while (union.ended < runs && Date.now() < until) await pause(RETRY_MS);
    }
    leaving.abort();
    await following;
    const isFinished = runs > 0 && union.ended >= runs;
    (isFinished ? this.followed : this.unfinished).push({ threadId, runs, union });
  }

  async #stayConnected(connect: Connect, threadId: string, union: EventUnion, left: AbortSignal): Promise<void> {
    const { random, url, headers } = this.#options;
    while (!left.aborted) {
      const cut = new AbortController();
      const leavesAfter = random.chance(0.7) ? random.integer(2, 40) : Number.POSITIVE_INFINITY;
      // Those of the official SDK ask for everything again.
      const since = random.chance(0.5) ? union.since : undefined;
      let events = 0;
      const { wasOpen } = await connect({
        url,
        headers,
        threadId,
        since,
        signal: anySignal(cut.signal, left),
        onEvent: (event) => {
          // A client that has left does not get what is still in the buffer.
          if (cut.signal.aborted) return;
          union.add(event, since);
          events += 1;
          if (events >= leavesAfter) cut.abort();
        },
      });
      if (left.aborted) return;
      if (wasOpen) this.cuts += 1;
      else await pause(RETRY_MS);
    }
  }
}
