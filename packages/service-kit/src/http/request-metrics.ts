import type { Metrics } from '../metrics.ts';

/** Counts requests by route template, never by path: paths contain any number of ids. */
export class RequestMetrics {
  readonly #requests;
  readonly #latency;
  readonly #active;

  constructor(metrics: Metrics, prefix: string) {
    const labels = ['method', 'path', 'status'];
    this.#requests = metrics.counter(`${prefix}http_requests_total`, 'HTTP requests answered.', labels);
    this.#latency = metrics.histogram(
      `${prefix}http_requests_latency`,
      'Milliseconds from a request to the end of its answer.',
      labels,
      [1, 5, 10, 25, 50, 100, 250, 500, 1000, 2000, 3000, 5000, 15_000, 60_000],
    );
    this.#active = metrics.gauge(`${prefix}http_requests_active`, 'HTTP requests being answered, streams included.');
  }

  started(): void {
    this.#active.inc();
  }

  finished(method: string, path: string, status: number, elapsedMs: number): void {
    const labels = { method, path, status: String(status) };
    this.#requests.inc(labels);
    this.#latency.observe(labels, elapsedMs);
    this.#active.dec();
  }
}
