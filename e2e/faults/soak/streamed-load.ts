import { setTimeout as pause } from 'node:timers/promises';
import type { BenchDeployment } from '../bench/deployment.ts';
import { followStream } from '../bench/event-follower.ts';
import type { LedgerInput } from '../bench/ledger.ts';
import type { Random } from '../bench/random.ts';

export interface StreamedLoadOptions {
  everyMs: number;
  input: LedgerInput;
  random: Random;
  /** The index of the agent-api. */
  at: number;
}

/** Milliseconds after which a client leaves that does not stay to the end. */
const LEAVES_AFTER_MS = 300;
const PATIENCE_MS = 60_000;

/**
 * Streams runs, one after another, half of them by clients that leave in the middle. Other goals cover what clients get
 * while servers lose their data: here streams have to leave nothing behind.
 */
export class StreamedLoad {
  /** The number of streams that were read to their end. */
  whole = 0;
  readonly #stopping = new AbortController();
  readonly #streaming = new Set<Promise<unknown>>();
  readonly #running: Promise<void>;

  constructor(deployment: BenchDeployment, options: StreamedLoadOptions) {
    this.#running = this.#run(deployment, options);
  }

  /** Resolves when the last stream has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    await Promise.all(this.#streaming);
  }

  async #run(deployment: BenchDeployment, { everyMs, input, random, at }: StreamedLoadOptions): Promise<void> {
    const { signal } = this.#stopping;
    for (let count = 0; !signal.aborted; count += 1) {
      const run = { stream_mode: ['custom', 'updates'], stream_resumable: count % 4 < 2, on_disconnect: 'continue' };
      const staysMs = count % 2 === 0 ? PATIENCE_MS : random.integer(0, LEAVES_AFTER_MS);
      const streaming = followStream(`${deployment.url(at)}/runs/stream`, {
        method: 'POST',
        body: deployment.ledger.runRequest(input, run),
        signal: AbortSignal.timeout(staysMs),
      }).then(({ end }) => {
        this.#streaming.delete(streaming);
        if (end === 'whole') this.whole += 1;
      });
      this.#streaming.add(streaming);
      await pause(everyMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
