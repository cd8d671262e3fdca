/**
 * Measures how many runs per second the engine takes from acceptance to end when nothing is executed in between: `npx
 * tsx packages/run-engine/bench/run-cycle.ts [in flight] [seconds]`, with RUNYARD_TEST_POSTGRES_URL set.
 */
import { randomUUID } from 'node:crypto';
import { aRun, openEngine, success } from '../test/engine-fixture.ts';

const inFlight = Number(process.argv[2] ?? 32);
const seconds = Number(process.argv[3] ?? 5);
const kinds = { 'stateless, thread not kept': false, 'stateless, thread kept': true };

const fixture = await openEngine();
const worker = await fixture.worker();
await fixture.pool.query("UPDATE worker SET lease_until = now() + interval '1 day', lease_ms = 86400000");
// Workers sweep too. Above all, a sweep keeps the planner's statistics fresh.
let sweep: Promise<unknown> = Promise.resolve();
const sweeping = setInterval(() => {
  sweep = fixture.engine.sweep();
}, 2_000);
const values = Buffer.from(JSON.stringify({ messages: [{ type: 'ai', content: 'x'.repeat(400), id: randomUUID() }] }));

for (const [name, keepsThread] of Object.entries(kinds)) {
  await measure(name, 1, keepsThread);
  await measure(name, inFlight, keepsThread);
}
clearInterval(sweeping);
await sweep;
await fixture.close();

async function measure(name: string, clients: number, keepsThread: boolean): Promise<void> {
  const endsAt = performance.now() + seconds * 1000;
  const waiting = new Map<string, () => void>();
  const latencies: number[] = [];
  let isClaiming = false;
  let isAskedAgain = false;

  /** Claims one batch at a time, and repeats as long as it finds runs. */
  async function claim(): Promise<void> {
    if (isClaiming) {
      isAskedAgain = true;
      return;
    }
    isClaiming = true;
    do {
      isAskedAgain = false;
      for (const run of await fixture.engine.claimRuns(worker, 64)) {
        isAskedAgain = true;
        void fixture.engine.finishRun(success(run, { values })).then(() => waiting.get(run.runId)!());
      }
    } while (isAskedAgain);
    isClaiming = false;
  }

  async function client(): Promise<void> {
    while (performance.now() < endsAt) {
      const startedAt = performance.now();
      const input = aRun({ keepsThread });
      const ended = new Promise<void>((resolve) => waiting.set(input.runId, resolve));
      await fixture.engine.createRun(input);
      void claim();
      await ended;
      waiting.delete(input.runId);
      latencies.push(performance.now() - startedAt);
    }
  }

  await Promise.all(Array.from({ length: clients }, client));
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)]!.toFixed(1);
  console.log(
    `${name}, ${clients} in flight: ${Math.round(latencies.length / seconds)} runs/s, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`,
  );
}
