import { waitFor } from '@runyard/test-kit';
import type { Bench } from './bench.ts';
import type { BenchDeployment, BenchRun } from './deployment.ts';
import { followStream } from './event-follower.ts';
import type { Call, History } from './history.ts';

/**
 * Returns the seconds from `since` (monotonic milliseconds) until all parts are ready, and a new run is executed and
 * streamed to its end.
 */
export async function measureRecoverySeconds(
  deployment: BenchDeployment,
  since: number,
  parts: readonly { isReady(): Promise<boolean> }[] = deployment.parts,
): Promise<number> {
  await waitFor(async () => (await Promise.all(parts.map((part) => part.isReady()))).every(Boolean), {
    timeoutMs: 60_000,
    intervalMs: 50,
    what: 'all parts to be ready',
  });
  await waitFor(() => streamsARun(deployment), {
    timeoutMs: 60_000,
    intervalMs: 50,
    what: 'a run streamed to its end',
  });
  return (performance.now() - since) / 1000;
}

const STEPS = 2;

async function streamsARun(deployment: BenchDeployment): Promise<boolean> {
  const body = deployment.ledger.runRequest({ steps: STEPS, events: 1 }, { stream_mode: ['custom'] });
  const { events, end } = await followStream(`${deployment.url()}/runs/stream`, {
    method: 'POST',
    body,
    signal: AbortSignal.timeout(10_000),
  });
  return end === 'whole' && events.filter(({ event }) => event === 'custom').length === STEPS;
}

/**
 * Measures what no outage may cause: answers that are a fault, requests without an answer, answers that take too long.
 */
export function measureOutage(
  bench: Bench,
  histories: readonly History[],
  { boundSeconds, of = 'all' }: { boundSeconds: number; of?: string },
): void {
  const calls = histories.flatMap((history) => history.calls);
  const failures = histories.flatMap((history) => history.failures());
  const told = ({ method, path, status, error, ms }: Call) =>
    `${method} ${path}: ${status ?? error} after ${Math.round(ms)} ms`;
  bench.measureNone(`answers ≥ 500 other than 503 with Retry-After (${of})`, failures.map(told), calls.length);
  // A cut connection is an answer too; one that the client had to give up is not.
  const unanswered = calls.filter(({ error }) => error?.includes('timeout')).map(told);
  bench.measureNone(`requests without an answer (${of})`, unanswered, calls.length);
  const [slowest] = [...calls].sort((a, b) => b.ms - a.ms);
  if (slowest && slowest.ms > boundSeconds * 1000) bench.log(`the longest answer: ${told(slowest)}`);
  const measured = (slowest?.ms ?? 0) / 1000;
  bench.measure({ what: `longest answer (${of})`, measured, limit: boundSeconds, unit: 's', samples: calls.length });
}

/** Remembers the processes. Returns a function that measures which of them have ended. */
export function watchProcesses(bench: Bench, deployment: BenchDeployment): () => void {
  const before = deployment.parts.map((part) => ({ part, pid: part.pid }));
  return () => {
    const dead = before.filter(({ part, pid }) => !part.isUp || part.pid !== pid);
    bench.measureNone(
      'processes that ended',
      dead.map(({ part }) => `${part.service}:\n${part.output().slice(-2_000)}`),
      before.length,
    );
  };
}

/** Measures that accepted runs, at least `needed` of them, were each executed properly and once. */
export async function measureRuns(
  bench: Bench,
  deployment: BenchDeployment,
  runs: readonly BenchRun[],
  needed = 1,
): Promise<void> {
  const violations = await deployment.audit.violations(runs);
  for (const [what, found] of Object.entries(violations)) bench.measureNone(what, found, runs.length, needed);
}
