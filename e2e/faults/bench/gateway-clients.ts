import { setTimeout as pause } from 'node:timers/promises';
import type { Bench } from './bench.ts';
import type { BenchRun } from './deployment.ts';
import { type FollowedEvent, followStream } from './event-follower.ts';
import type { BenchGateway } from './gateway.ts';
import type { Ledger, LedgerInput } from './ledger.ts';

export interface GatewayClientsOptions {
  /** The least number of short requests. */
  requests: number;
  /** Clients that stream one run after another, and clients that wait for results. */
  streams: number;
  waits: number;
  input: LedgerInput;
}

/** Milliseconds between requests, so that the count is reached during the faults. */
const REQUEST_EVERY_MS = 30;

/** Clients of a gateway that retry nothing: a failure stays a failure. */
export class GatewayClients {
  readonly accepted: BenchRun[] = [];
  readonly #gateway: BenchGateway;
  readonly #ledger: Ledger;
  readonly #options: GatewayClientsOptions;
  readonly #stopping = new AbortController();
  readonly #asking = new Set<Promise<unknown>>();
  readonly #running: Promise<unknown>;
  readonly #faults = { streams: [] as string[], waits: [] as string[] };
  #streamed = 0;
  #waited = 0;

  constructor(gateway: BenchGateway, ledger: Ledger, options: GatewayClientsOptions) {
    this.#gateway = gateway;
    this.#ledger = ledger;
    this.#options = options;
    const { streams, waits } = options;
    this.#running = Promise.all([
      this.#request(),
      ...Array.from({ length: streams }, (_, index) => this.#repeat(() => this.#stream(index % 2 === 0))),
      ...Array.from({ length: waits }, () => this.#repeat(() => this.#wait())),
    ]);
  }

  /** Resolves when everything begun is answered, and there were as many requests as wanted. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    await Promise.all(this.#asking);
  }

  measure(bench: Bench): void {
    const { calls } = this.#gateway.history;
    const failed = calls
      .filter(({ outcome }) => outcome !== 'ok')
      .map(({ method, path, status, body, error }) => `${method} ${path}: ${status ?? error} ${JSON.stringify(body)}`);
    bench.measureNone('requests through the gateway that failed', failed, calls.length, this.#options.requests);
    bench.measureNone('streams through the gateway that were not whole', this.#faults.streams, this.#streamed);
    bench.measureNone('waits through the gateway without their result', this.#faults.waits, this.#waited);
  }

  async #request(): Promise<void> {
    const { signal } = this.#stopping;
    for (let count = 0; count < this.#options.requests || !signal.aborted; count += 1) {
      const asked: Promise<unknown> = this.#ask(count).then(() => this.#asking.delete(asked));
      this.#asking.add(asked);
      await pause(REQUEST_EVERY_MS);
    }
  }

  async #ask(count: number): Promise<void> {
    switch (count % 4) {
      case 0:
        await this.#gateway.call('POST', '/threads', { body: {} });
        break;
      case 1:
        await this.#gateway.call('POST', '/threads/search', { body: { limit: 2 } });
        break;
      case 2:
        await this.#gateway.call('GET', '/info');
        break;
      default:
        await this.#gateway.call('POST', '/assistants/count', { body: {} });
    }
  }

  async #repeat(once: () => Promise<void>): Promise<void> {
    while (!this.#stopping.signal.aborted) await once();
  }

  async #stream(isResumable: boolean): Promise<void> {
    const { input } = this.#options;
    this.#streamed += 1;
    const { events, end, status } = await followStream(`${this.#gateway.deploymentUrl}/runs/stream`, {
      method: 'POST',
      headers: this.#gateway.headers,
      body: this.#ledger.runRequest(input, { stream_mode: ['custom'], stream_resumable: isResumable }),
    });
    const fault = end === 'cut' ? `was cut, status ${status}` : faultOf(events, input);
    if (fault) this.#faults.streams.push(`a stream ${isResumable ? 'with' : 'without'} ids ${fault}`);
  }

  async #wait(): Promise<void> {
    const { input } = this.#options;
    this.#waited += 1;
    const call = await this.#gateway.call('POST', '/runs/wait', { body: this.#ledger.runRequest(input) });
    const done = (call.body as { done?: number[] } | undefined)?.done ?? [];
    const isWhole = done.length === input.steps && done.every((step, index) => step === index);
    if (!isWhole) this.#faults.waits.push(`${call.status ?? call.error}: ${JSON.stringify(call.body)}`);
  }
}

/** Checks that every event of every step came, each once for an attempt. */
function faultOf(events: readonly FollowedEvent[], input: LedgerInput): string | undefined {
  const custom = events.filter(({ event }) => event === 'custom');
  const names = custom.map(({ data }) => {
    const { step, n, attempt } = data as { step: number; n: number; attempt: number };
    return { once: `${step} ${n} ${attempt}`, wanted: `${step} ${n}` };
  });
  const repeated = names.length - new Set(names.map(({ once }) => once)).size;
  const missing = input.steps * (input.events ?? 0) - new Set(names.map(({ wanted }) => wanted)).size;
  return repeated > 0 || missing !== 0 ? `had ${missing} events missing and ${repeated} repeated` : undefined;
}
