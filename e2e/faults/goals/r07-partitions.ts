import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Direction, FaultLine } from '@runyard/test-kit';
import type { BenchDeployment } from '../bench/deployment.ts';
import { BenchGateway } from '../bench/gateway.ts';
import type { Goal } from '../bench/goal.ts';
import { measureOutage, measureRecoverySeconds, measureRuns, watchProcesses } from '../bench/outage-checks.ts';
import { findRepeatedSteps } from '../bench/repeated-steps.ts';
import { SteadyLoad } from '../bench/steady-load.ts';

const POOL_TIMEOUT_SECONDS = 5;
const UPSTREAM_SILENCE_SECONDS = 7;
/**
 * Seconds until an unresponsive connection is noticed, longer than a caller waits for a connection; a write waits for
 * the one before.
 */
const API_BOUND_SECONDS = 2 * 7 + 3;
/** The silence, the look that finds it, and three probes of three seconds; twice for requests that may be repeated. */
const GATEWAY_BOUND_SECONDS = 2 * (1.25 * UPSTREAM_SILENCE_SECONDS + 3 * 3) + 3;
const HOLE_MS = 30_000;

export const goal: Goal = {
  id: 'R7',
  title: 'A network that swallows what is sent between any two parts holds up nothing for longer than is configured.',
  async run(bench) {
    const deployment = await bench.deployment({
      agentApis: 2,
      workers: 3,
      env: { DATABASE_POOL_TIMEOUT_SECONDS: String(POOL_TIMEOUT_SECONDS) },
    });
    const [cutOff, behindGateway] = deployment.agentApis as [
      BenchDeployment['agentApis'][0],
      BenchDeployment['agentApis'][0],
    ];
    const env = { UPSTREAM_SILENCE_SECONDS: String(UPSTREAM_SILENCE_SECONDS) };
    bench.settings.add(env);
    const gateway = await BenchGateway.start({ agentApis: [behindGateway] }, bench.servers, env);
    bench.onClose(() => gateway.close());
    const measureProcesses = watchProcesses(bench, deployment);
    const input = { steps: 5, sleepMs: 400, events: 2 };
    const loads = [0, 1].map((at) => new SteadyLoad(deployment, { everyMs: 500, input, at }));
    const stopAsking = keepAsking(gateway, deployment);
    await pause(2_000);

    const holes: [string, FaultLine][] = [
      ['worker – Redis', deployment.workers[0]!.lines.redis],
      ['worker – Postgres', deployment.workers[1]!.lines.postgres],
      ['agent-api – Postgres', cutOff.lines.postgres],
      ['gateway – agent-api', gateway.lines[0]!],
    ];
    for (const [where, line] of holes) {
      const direction = bench.random.pick<Direction>(['both', 'up', 'down']);
      bench.log(`${where}: ${direction}`);
      line.partition(direction);
    }
    // The partition is longer than a lease: a worker that cannot renew has to drop its runs.
    await pause(Math.max(15_000, (HOLE_MS * bench.size({ fast: 50, full: 100 })) / 100));
    await Promise.all(holes.map(([, line]) => line.heal()));
    const healedAt = performance.now();

    const backAfter = await measureRecoverySeconds(deployment, healedAt);
    await stopAsking();
    const runs = (await Promise.all(loads.map((load) => load.stop()))).flat();
    await deployment.audit.untilAllEnded(60_000);
    const measure = (what: string, measured: number, limit: number) =>
      bench.measure({ what, measured, limit, unit: 's', samples: holes.length });
    const unserved = [deployment.history, gateway.history].map(
      ({ calls }) => calls.filter(({ outcome, ms }) => outcome !== 'ok' || ms > 1_000).length,
    ) as [number, number];
    bench.measureEnough('requests that the hole before Postgres held up', unserved[0], 1);
    bench.measureEnough('requests that the hole behind the gateway held up', unserved[1], 1);
    measure('healed → all at work', backAfter, 10);
    measure('healed → no run left over', (performance.now() - healedAt) / 1000, 15);
    const repeated = await findRepeatedSteps(deployment, runs);
    bench.measureNone('committed steps executed again', repeated, runs.length * input.steps);
    await measureRuns(bench, deployment, runs);
    measureOutage(bench, [deployment.history], { boundSeconds: API_BOUND_SECONDS });
    measureOutage(bench, [gateway.history], { boundSeconds: GATEWAY_BOUND_SECONDS, of: 'through the gateway' });
    measureProcesses();
  },
};

/** Sends reads and writes through the gateway, some at a time. Returns a function that ends it. */
function keepAsking(gateway: BenchGateway, { ledger }: Pick<BenchDeployment, 'ledger'>): () => Promise<void> {
  const stopping = new AbortController();
  const asking = new Set<Promise<unknown>>();
  const ask = (asked: Promise<unknown>) => {
    asking.add(asked);
    void asked.then(() => asking.delete(asked));
  };
  const running = (async () => {
    while (!stopping.signal.aborted) {
      const threadId = randomUUID();
      ask(gateway.call('POST', '/threads/search', { body: {} }));
      ask(gateway.call('GET', `/threads/${threadId}`));
      ask(gateway.call('POST', `/threads/${threadId}/runs/wait`, { body: ledger.runRequest({ steps: 1 }) }));
      await pause(1_000, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  })();
  return async () => {
    stopping.abort();
    await running;
    await Promise.all(asking);
  };
}
