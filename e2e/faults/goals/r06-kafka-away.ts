import { setTimeout as pause } from 'node:timers/promises';
import { percentile, waitFor } from '@runyard/test-kit';
import type { Bench } from '../bench/bench.ts';
import { BusRecord, compareWithWritten } from '../bench/bus-record.ts';
import type { BenchDeployment } from '../bench/deployment.ts';
import type { Goal } from '../bench/goal.ts';
import type { Part } from '../bench/part.ts';

const DRAINED_WITHIN_S = 30;
const CREATE_EVERY_MS = 100;

export const goal: Goal = {
  id: 'R6',
  title:
    'Without Kafka nothing is slower and nothing lost: every event is there soon after its return, in order for each key.',
  async run(bench) {
    const { kafka } = bench.servers;
    const deployment = await bench.deployment({ agentApis: 2 });
    const record = await BusRecord.open(deployment, kafka.address);
    const load = new Load(deployment);
    bench.onClose(await record.subscribe());

    await load.during(() => pause(3_000));
    const normal = await load.during(() => pause(bench.size({ fast: 5, full: 20 }) * 1000));
    await drained(record);
    const away = await load.during(async () => {
      await kafka.kill();
      await pause(bench.size({ fast: 10, full: 60 }) * 1000);
    });
    const drains = [await waitUntilDrained(load, record, () => kafka.start())];
    await drained(record);
    // The baseline is taken on both sides of the outage, so that a machine that gets busier or warmer meanwhile does
    // not count.
    normal.push(...(await load.during(() => pause(bench.size({ fast: 5, full: 20 }) * 1000))));

    for (let kill = 0; kill < bench.size({ fast: 1, full: 3 }); kill += 1) {
      await load.during(() => pause(bench.random.integer(200, 1_500)));
      await kafka.kill();
      drains.push(await waitUntilDrained(load, record, () => kafka.start()));
    }
    // Connections stay open and nothing is answered.
    await load.during(async () => {
      kafka.pause();
      await pause(bench.size({ fast: 5, full: 20 }) * 1000);
      kafka.resume();
    });
    drains.push(await waitUntilDrained(load, record, async () => undefined));
    await relaysThatFail(bench, deployment, load, record);

    await deployment.audit.untilAllEnded(60_000);
    await drained(record);
    const written = await record.written();
    await waitFor(() => new Set(record.handled).size >= written.length, { timeoutMs: 30_000, what: 'the subscriber' });
    const { missing, foreign, outOfOrder, repeated } = compareWithWritten(written, await record.published());
    bench.log(`${written.length} events, ${repeated} of them published again`);
    // Each run has at least these: accepted, begun, ended.
    bench.measureNone('events that never came', missing, written.length, load.sent);
    bench.measureNone('events that nobody committed', foreign, written.length);
    bench.measureNone('events out of the order of their key', outOfOrder, written.length);
    bench.measure({
      what: 'events that a subscriber was given twice',
      measured: record.handled.length - new Set(record.handled).size,
      limit: 0,
      unit: '',
      samples: record.handled.length,
    });
    bench.measure({
      what: 'bus back → all published, longest',
      measured: Math.max(...drains),
      limit: DRAINED_WITHIN_S,
      unit: 's',
      samples: drains.length,
    });
    bench.measure({
      what: 'creating a run without Kafka against with it, p99',
      measured: percentile(away, 0.99) / percentile(normal, 0.99),
      limit: 1.2,
      unit: '×',
      samples: Math.min(away.length, normal.length),
      needed: bench.size({ fast: 50, full: 300 }),
    });
    // The outcome of requests to a killed process is unknown; all others are answered.
    const failed = deployment.history.calls.filter(
      ({ outcome, error }) => outcome === 'failed' || outcome === 'refused' || error?.includes('timeout'),
    );
    bench.measureNone(
      'creates that were not accepted',
      failed.map(({ status, error }) => `${status ?? error}`),
      load.sent,
    );
  },
};

/** Clients that create runs at a steady pace, half of them on threads that have runs already. */
class Load {
  sent = 0;
  readonly #deployment: BenchDeployment;
  readonly #threads: string[] = [];

  constructor(deployment: BenchDeployment) {
    this.#deployment = deployment;
  }

  /** Returns the milliseconds that each create took during an event. */
  async during(event: () => Promise<unknown>): Promise<number[]> {
    const creates: Promise<number>[] = [];
    const timer = setInterval(() => creates.push(this.#create()), CREATE_EVERY_MS);
    await event();
    clearInterval(timer);
    return Promise.all(creates);
  }

  async #create(): Promise<number> {
    this.sent += 1;
    const at = this.#deployment.agentApis.findIndex(({ isUp }, index) => isUp && index >= this.sent % 2);
    const threadId = this.sent % 2 === 0 ? this.#threads.shift() : undefined;
    const begun = performance.now();
    const run = await this.#deployment.createRun({ steps: 1 }, { at: Math.max(at, 0), ...(threadId && { threadId }) });
    if (run) this.#threads.push(run.threadId);
    return performance.now() - begun;
  }
}

/**
 * Returns the seconds from the return of the bus until the outbox has published what was written before, while more is
 * written.
 */
async function waitUntilDrained(load: Load, record: BusRecord, restore: () => Promise<unknown>): Promise<number> {
  let seconds = 0;
  await load.during(async () => {
    await restore();
    const begun = performance.now();
    // Under load it is seldom seen empty: rows that are a moment old do not count.
    await waitFor(async () => (await record.waiting()) < 20, { timeoutMs: 60_000, what: 'the outbox to drain' });
    seconds = (performance.now() - begun) / 1000;
  });
  return seconds;
}

async function drained(record: BusRecord): Promise<void> {
  await waitFor(async () => (await record.waiting()) === 0, { timeoutMs: 60_000, what: 'an empty outbox' });
}

/**
 * Kills the process that relays, then freezes another for longer than its lease and wakes it in the middle of a batch.
 */
async function relaysThatFail(bench: Bench, deployment: BenchDeployment, load: Load, record: BusRecord): Promise<void> {
  const killed = await relaying(deployment);
  await load.during(async () => {
    await killed.kill();
    await pause(1_000);
  });
  await relaying(deployment);
  await killed.start();
  const stalled = await relaying(deployment);
  stalled.pause();
  await pause(bench.random.integer(10_500, 12_000));
  await relaying(deployment, stalled);
  await load.during(async () => {
    stalled.resume();
    await pause(2_000);
  });
  await drained(record);
}

/** Returns the process whose relay has the lease. */
async function relaying(deployment: BenchDeployment, not?: Part): Promise<Part> {
  return waitFor(
    async () => {
      for (const part of deployment.agentApis) {
        if (part === not || !part.isUp) continue;
        const answer = await fetch(`${part.url}/metrics`, { signal: AbortSignal.timeout(2_000) }).catch(
          () => undefined,
        );
        if (/^outbox_relay_active\S* 1$/m.test((await answer?.text()) ?? '')) return part;
      }
      return undefined;
    },
    { timeoutMs: 40_000, what: 'a relay' },
  );
}
