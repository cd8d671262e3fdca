import type { Bench } from './bench.ts';
import type { Call, History } from './history.ts';

/** Measures valid requests: each is answered with 2xx, or with 503 and Retry-After, or its connection is cut. */
export function measureAnswers(bench: Bench, histories: readonly History[]): void {
  const calls = histories.flatMap((history) => history.calls);
  const wrong = calls.filter(
    ({ outcome, status }) => outcome === 'failed' || (outcome === 'refused' && status !== 503),
  );
  const what = 'answers other than 2xx, 503 with Retry-After, or a cut connection';
  bench.measureNone(what, wrong.map(told), calls.length);
}

function told({ method, path, status, body }: Call): string {
  return `${method} ${path}: ${status} ${JSON.stringify(body)?.slice(0, 200)}`;
}
