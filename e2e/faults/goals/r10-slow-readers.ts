import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { percentile } from '@runyard/test-kit';
import type { Bench } from '../bench/bench.ts';
import { type BenchDeployment, type BenchRun, MANY_STREAMS } from '../bench/deployment.ts';
import { followStream } from '../bench/event-follower.ts';
import type { Goal } from '../bench/goal.ts';
import { SlowReader } from '../bench/slow-reader.ts';

const MEGABYTE = 1024 * 1024;
const LARGE = { steps: 50, events: 500, bytes: 1_950, sleepMs: 150 };
const NORMAL = { steps: 40, events: 4, bytes: 200, sleepMs: 200 };
const READERS_OF_ONE_RUN = 5;
/** Milliseconds of delay that are the machine's own, and no reader's. */
const UNNOTICED_MS = 10;

export const goal: Goal = {
  id: 'R10',
  title:
    'Readers that take a kilobyte a second of a large stream cost bounded memory, slow nobody down, and lose nothing.',
  async run(bench) {
    const deployment = await bench.deployment(MANY_STREAMS);
    const slow = bench.size({ fast: 4, full: 20 });
    const normal = bench.size({ fast: 10, full: 50 });
    await warmUp(deployment, slow);
    const alone = await readTogether(bench, deployment, { normal, slow: 0 });
    const beside = await readTogether(bench, deployment, { normal, slow });
    bench.log(
      `normal readers alone: p99 ${Math.round(percentile(alone.delays, 0.99))} ms, ${mb(alone.residentBytes)} MB`,
    );
    bench.log(
      `beside slow ones: p99 ${Math.round(percentile(beside.delays, 0.99))} ms, ${mb(beside.residentBytes)} MB`,
    );
    bench.measure({
      what: 'memory of agent-api for slow readers',
      measured: Math.max(0, beside.residentBytes - alone.residentBytes) / MEGABYTE,
      limit: 64,
      unit: 'MB',
      samples: slow,
    });
    bench.measure({
      what: 'delay of normal readers, p99, beside slow ones against alone',
      measured: percentile(beside.delays, 0.99) / Math.max(UNNOTICED_MS, percentile(alone.delays, 0.99)),
      limit: 2,
      unit: '×',
      samples: Math.min(beside.delays.length, alone.delays.length),
      // They join a moment after their run has begun.
      needed: (normal * NORMAL.steps * NORMAL.events) / 2,
    });
    await measureLosses(bench, deployment, beside);
  },
};

/**
 * Warms up with a large stream and as many readers, none of them slow: the code that everybody's reading of megabytes
 * compiles, and the room that garbage takes from then on, must not count for a slow reader.
 */
async function warmUp(deployment: BenchDeployment, readers: number): Promise<void> {
  const { large } = await largeStream(deployment, 0);
  await Promise.all(
    Array.from({ length: readers }, () => new SlowReader(deployment.url() + streamPath(large)).catchUp()),
  );
}

interface Reading {
  /** Milliseconds from the emission of an event to its arrival. */
  delays: number[];
  /** The most resident bytes of agent-api. */
  residentBytes: number;
  large: BenchRun;
  slow: SlowReader[];
}

/** Has normal readers follow runs during a large stream, with slow readers on it or without. */
async function readTogether(
  bench: Bench,
  deployment: BenchDeployment,
  { normal, slow }: { normal: number; slow: number },
): Promise<Reading> {
  const [agentApi] = deployment.agentApis;
  if (!agentApi) throw new Error('there is no agent-api');
  const scale = Math.max(1, bench.size({ fast: 10, full: 50 }));
  const steps = Math.min(LARGE.steps, scale);
  const making = largeStream(deployment, slow, steps);
  const delays: number[] = [];
  const following = Promise.all(
    Array.from({ length: Math.ceil(normal / READERS_OF_ONE_RUN) }, () => normalReaders(deployment, delays)),
  );
  let residentBytes = 0;
  let isOver = false;
  const sampling = (async () => {
    while (!isOver) {
      residentBytes = Math.max(residentBytes, await agentApi.residentBytes());
      await pause(200);
    }
  })();
  const [large] = await Promise.all([making, following]);
  isOver = true;
  await sampling;
  return { delays, residentBytes, ...large };
}

/**
 * Creates a run with a stream of up to 50 MB, and readers that read it slowly from its beginning. Resolves when it has
 * ended.
 */
async function largeStream(
  deployment: BenchDeployment,
  readers: number,
  steps = 10,
): Promise<Pick<Reading, 'large' | 'slow'>> {
  const large = await deployment.createRun(
    { ...LARGE, steps },
    { run: { stream_resumable: true, stream_mode: ['custom'] } },
  );
  if (!large) throw new Error('the large run was not accepted');
  const slow = Array.from({ length: readers }, () => new SlowReader(deployment.url() + streamPath(large)));
  await Promise.all(slow.map((reader) => reader.open()));
  await deployment.call('GET', `/threads/${large.threadId}/runs/${large.runId}/join`, { timeoutMs: 120_000 });
  return { large, slow };
}

const streamPath = ({ threadId, runId }: BenchRun) => `/threads/${threadId}/runs/${runId}/stream`;

async function normalReaders(deployment: BenchDeployment, delays: number[]): Promise<void> {
  const threadId = randomUUID();
  const run = await deployment.createRun(NORMAL, {
    threadId,
    run: { stream_resumable: true, stream_mode: ['custom'] },
  });
  if (!run) throw new Error('a run was not accepted');
  const readers = Array.from({ length: READERS_OF_ONE_RUN }, () =>
    followStream(deployment.url() + streamPath(run), {
      onEvent: ({ event, data, at }) => {
        if (event === 'custom') delays.push(Math.max(0, at - (data as { at: number }).at));
      },
    }),
  );
  await Promise.all(readers);
}

/** Measures that slow readers leave, resume, and have had every event once. */
async function measureLosses(bench: Bench, deployment: BenchDeployment, { large, slow }: Reading): Promise<void> {
  const whole = new SlowReader(deployment.url() + streamPath(large));
  await whole.catchUp();
  const lost: string[] = [];
  let readers = 0;
  for (const reader of slow) {
    const before = reader.union.ids.length;
    // A reader that had all before it resumed read as fast as everybody.
    if (before < whole.union.ids.length) readers += 1;
    await reader.catchUp();
    const difference = reader.union.difference(whole.union.ids);
    if (difference)
      lost.push(`a reader that had ${before} events${reader.wasCut ? ' and was cut' : ''}: ${difference}`);
  }
  bench.log(
    `${whole.union.ids.length} events, ${slow.filter(({ wasCut }) => wasCut).length} of ${slow.length} readers cut`,
  );
  bench.measureNone('slow readers that lost or repeated events', lost, readers, slow.length);
}

const mb = (bytes: number) => Math.round(bytes / MEGABYTE);
