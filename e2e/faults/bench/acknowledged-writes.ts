import { setTimeout as pause } from 'node:timers/promises';
import type { BenchDeployment } from './deployment.ts';

/** Writes items and threads one after another; those answered with 2xx have to exist in the end. */
export class AcknowledgedWrites {
  readonly #deployment: BenchDeployment;
  readonly #stopping = new AbortController();
  readonly #items: number[] = [];
  readonly #threads: string[] = [];
  readonly #writing: Promise<unknown>;

  constructor(deployment: BenchDeployment) {
    this.#deployment = deployment;
    this.#writing = Promise.all([this.#writeItems(), this.#writeThreads()]);
  }

  get count(): number {
    return this.#items.length + this.#threads.length;
  }

  async lost(): Promise<string[]> {
    this.#stopping.abort();
    await this.#writing;
    const { pool } = this.#deployment;
    const items = await pool.query<{ key: string }>(`SELECT key FROM store_item WHERE key LIKE 'item-%'`);
    const threads = await pool.query<{ thread_id: string }>('SELECT thread_id FROM thread');
    const keys = new Set(items.rows.map(({ key }) => key));
    const ids = new Set(threads.rows.map(({ thread_id }) => thread_id));
    return [
      ...this.#items.filter((n) => !keys.has(`item-${n}`)).map((n) => `item ${n}`),
      ...this.#threads.filter((id) => !ids.has(id)).map((id) => `thread ${id}`),
    ];
  }

  async #writeItems(): Promise<void> {
    for (let n = 0; !this.#stopping.signal.aborted; n += 1) {
      const body = { namespace: ['bench'], key: `item-${n}`, value: { n } };
      const { outcome } = await this.#deployment.call('PUT', '/store/items', { body });
      if (outcome === 'ok') this.#items.push(n);
      await this.#rest();
    }
  }

  async #writeThreads(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const { outcome, body } = await this.#deployment.call('POST', '/threads', {
        body: { metadata: { bench: true } },
      });
      if (outcome === 'ok') this.#threads.push((body as { thread_id: string }).thread_id);
      await this.#rest();
    }
  }

  #rest(): Promise<unknown> {
    return pause(50, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }
}
