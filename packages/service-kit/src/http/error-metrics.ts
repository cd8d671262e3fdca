import { ERROR_CATALOGUE, type ErrorCode } from '@runyard/contracts';
import type { Metrics } from '../metrics.ts';

/** Counts answered errors by their code, and refused requests also by the exceeded limit or the unavailable part. */
export class ErrorMetrics {
  readonly #errors;
  readonly #refused;

  constructor(metrics: Metrics, prefix: string) {
    this.#errors = metrics.counter(`${prefix}http_errors_total`, 'Requests answered with an error, by its code.', [
      'code',
    ]);
    this.#refused = metrics.counter(
      `${prefix}http_requests_refused_total`,
      'Requests refused, by what there was no room for or what was away.',
      ['reason'],
    );
  }

  count(code: ErrorCode): void {
    this.#errors.inc({ code });
    const { refusal: reason } = ERROR_CATALOGUE[code];
    if (reason !== undefined) this.#refused.inc({ reason });
  }
}
