import { setTimeout as pause } from 'node:timers/promises';
import { waitFor } from '@runyard/test-kit';
import { History } from './history.ts';
import type { BenchPlatform } from './platform.ts';

const EVERY_MS = 200;
const PATIENCE_MS = 60_000;

type WatchedPlatform = Pick<BenchPlatform, 'url' | 'deploymentUrl' | 'headers'>;

/** Sends requests to each service of a platform through its gateway, one after another, until it is stopped. */
export class PlatformWatch {
  readonly history = new History();
  readonly #platform: WatchedPlatform;
  readonly #stopping = new AbortController();
  readonly #asking: Promise<unknown>;

  constructor(platform: WatchedPlatform) {
    this.#platform = platform;
    this.#asking = Promise.all(this.#questions().map((ask) => this.#keepAsking(ask)));
  }

  /** Returns the seconds from `since` (monotonic milliseconds) until every service has answered with 2xx. */
  async measureRecoverySeconds(since: number): Promise<number> {
    await Promise.all(
      this.#questions().map((ask) =>
        waitFor(async () => (await ask()).outcome === 'ok', { timeoutMs: PATIENCE_MS, intervalMs: 50 }),
      ),
    );
    return (performance.now() - since) / 1000;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#asking;
  }

  #questions() {
    const { url, deploymentUrl, headers } = this.#platform;
    return [
      () => this.history.call('GET', `${url}/v2/deployments`, { headers }),
      () => this.history.call('GET', `${url}/api/v1/workspaces`, { headers }),
      () => this.history.call('GET', `${url}/v2/auth/providers`, { headers }),
      () => this.history.call('POST', `${deploymentUrl}/threads/search`, { headers, body: {} }),
    ];
  }

  async #keepAsking(ask: () => Promise<unknown>): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await ask();
      await pause(EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}
