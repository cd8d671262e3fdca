/**
 * Measures how many runs of a one-step graph a worker process executes per second, from acceptance to the end on the
 * stream, without agent-api and gateway: `npx tsx services/run-worker/bench/executed-runs.ts [seconds]`, with
 * RUNYARD_TEST_POSTGRES_URL and RUNYARD_TEST_REDIS_URL set. Uses the bundle of the worker when it is built
 * (`dist/main.js`).
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openDeployment } from '../test/worker-fixture.ts';

const seconds = Number(process.argv[2] ?? 5);
const bundle = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const deployment = await openDeployment();
const worker = await deployment.startWorkerProcess(
  { WORKER_LEASE_SECONDS: '10', N_JOBS_PER_WORKER: '32' },
  existsSync(bundle) ? { entry: bundle } : {},
);

for (const keepsThread of [false, true]) {
  for (const clients of [1, 8, 32]) await measure(clients, keepsThread);
}
await worker.stop();
await deployment.close();

async function measure(clients: number, keepsThread: boolean): Promise<void> {
  const endsAt = performance.now() + seconds * 1000;
  const latencies: number[] = [];
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (performance.now() < endsAt) {
        const startedAt = performance.now();
        await deployment.events(await deployment.create('echo', { keepsThread }));
        latencies.push(performance.now() - startedAt);
      }
    }),
  );
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)]!.toFixed(1);
  const kind = keepsThread ? 'with checkpoints' : 'without checkpoints';
  console.log(
    `${kind}, ${clients} in flight: ${Math.round(latencies.length / seconds)} runs/s, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`,
  );
}
