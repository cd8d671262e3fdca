import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { BenchRun } from './deployment.ts';
import { History } from './history.ts';
import type { Ledger, LedgerInput } from './ledger.ts';

/** The parts of a platform that the load needs. */
export interface LoadedPlatform {
  /** The URL of the gateway. */
  url: string;
  deploymentUrl: string;
  headers: Record<string, string>;
  ledger: Ledger;
}

export interface PlatformLoadOptions {
  input: LedgerInput;
  /** Milliseconds between two requests for runs. A slow request does not delay the others. */
  everyMs: number;
}

const KEYS = '/api/v1/orgs/current/service-keys';
/** Milliseconds between two API keys. */
const KEY_PAUSE_MS = 400;

/** Creates runs and API keys through the gateway until it is stopped, whatever happens to the services meanwhile. */
export class PlatformLoad {
  readonly history = new History();
  /** Runs that a client knows to be accepted. */
  readonly accepted: BenchRun[] = [];
  /** Ids of the API keys that a client got. */
  readonly keys: string[] = [];
  readonly #platform: LoadedPlatform;
  readonly #stopping = new AbortController();
  readonly #asking = new Set<Promise<void>>();
  readonly #running: Promise<unknown>;

  constructor(platform: LoadedPlatform, options: PlatformLoadOptions) {
    this.#platform = platform;
    this.#running = Promise.all([this.#askForRuns(options), this.#askForKeys()]);
  }

  /** Resolves when the last request is answered. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    await Promise.all(this.#asking);
  }

  /** Returns API keys that a client got and that do not exist any more. */
  async lostKeys(): Promise<string[]> {
    const { url, headers } = this.#platform;
    const { body, status } = await this.history.call('GET', url + KEYS, { headers });
    if (!Array.isArray(body)) throw new Error(`the API keys were not listed: ${status}`);
    const kept = new Set((body as { id: string }[]).map(({ id }) => id));
    return this.keys.filter((id) => !kept.has(id)).map((id) => `key ${id}`);
  }

  async #askForRuns({ input, everyMs }: PlatformLoadOptions): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const asked = this.#askForRun(input).finally(() => this.#asking.delete(asked));
      this.#asking.add(asked);
      await this.#rest(everyMs);
    }
  }

  async #askForRun(input: LedgerInput): Promise<void> {
    const { deploymentUrl, headers, ledger } = this.#platform;
    const threadId = randomUUID();
    const { outcome, body } = await this.history.call('POST', `${deploymentUrl}/threads/${threadId}/runs`, {
      headers,
      body: ledger.runRequest(input),
    });
    if (outcome !== 'ok') return;
    this.accepted.push({ runId: (body as { run_id: string }).run_id, threadId, steps: input.steps });
  }

  async #askForKeys(): Promise<void> {
    const { url, headers } = this.#platform;
    while (!this.#stopping.signal.aborted) {
      const request = { headers, body: { description: 'fault bench' } };
      const { outcome, body } = await this.history.call('POST', url + KEYS, request);
      if (outcome === 'ok') this.keys.push((body as { id: string }).id);
      await this.#rest(KEY_PAUSE_MS);
    }
  }

  #rest(ms: number): Promise<unknown> {
    return pause(ms, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }
}
