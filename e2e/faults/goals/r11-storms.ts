import { setTimeout as pause } from 'node:timers/promises';
import { percentile, waitFor } from '@runyard/test-kit';
import type { Bench } from '../bench/bench.ts';
import { type AcceptedRun, type BenchDeployment, MANY_STREAMS } from '../bench/deployment.ts';
import { follow, type Segment } from '../bench/event-follower.ts';
import { BenchGateway } from '../bench/gateway.ts';
import type { Goal } from '../bench/goal.ts';
import type { Call } from '../bench/history.ts';
import { measureRuns } from '../bench/outage-checks.ts';

const INPUT = { steps: 1 };
/** That the machine sends what it receives adds to the second. */
const STORM_SECONDS = 1.5;
/** A storm that is turned away whole is no storm that was stood. */
const ADMITTED_SHARE = 0.1;
const STREAMED = { steps: 3, events: 20, bytes: 200 };

export const goal: Goal = {
  id: 'R11',
  title:
    'A storm is answered with what was done, 429 or 503, and is forgotten soon: nothing accepted is lost, nothing dies.',
  async run(bench) {
    const deployment = await bench.deployment(MANY_STREAMS);
    const pids = deployment.parts.map(({ pid }) => pid);
    const usualMs = await usualLatency(deployment);
    // Only now: the first request of the storm is the first it ever sees.
    const gateway = await BenchGateway.start(deployment, bench.servers, {}, { isDirect: true });
    bench.onClose(() => gateway.close());
    const accepted = await stormOfCreates(bench, deployment, gateway);
    await measureRecovery(bench, deployment, { usualMs, storm: 'creates' });
    await deployment.truth.untilAllEnded(180_000);
    await stormOfReconnects(bench, deployment, gateway);
    await measureRecovery(bench, deployment, { usualMs, storm: 'reconnections' });
    await measureRuns(bench, deployment, accepted);
    const died = [...deployment.parts, gateway.part].filter(({ isUp }) => !isUp).map(({ service }) => service);
    const replaced = deployment.parts.filter(({ pid }, index) => pid !== pids[index]).map(({ service }) => service);
    bench.measureNone('processes that died', [...died, ...replaced], deployment.parts.length + 1);
  },
};

/** The slowest of some creates when nothing else goes on, milliseconds. */
async function usualLatency(deployment: BenchDeployment): Promise<number> {
  const times: number[] = [];
  for (let count = 0; count < 30; count += 1) times.push((await createStateless(deployment)).ms);
  return percentile(times.slice(10), 0.9);
}

function createStateless(deployment: BenchDeployment): Promise<Call> {
  return deployment.call('POST', '/runs', { body: deployment.ledger.runRequest(INPUT) });
}

async function stormOfCreates(
  bench: Bench,
  deployment: BenchDeployment,
  gateway: BenchGateway,
): Promise<AcceptedRun[]> {
  const wanted = bench.size({ fast: 200, full: 2_000 });
  const calls = await inOneSecond(bench, 'creates', wanted, async () => {
    const threadId = crypto.randomUUID();
    const call = await gateway.call('POST', `/threads/${threadId}/runs`, { body: deployment.ledger.runRequest(INPUT) });
    return { threadId, call };
  });
  const answers = calls.map(({ call }) => call);
  const admitted = answers.filter(({ outcome }) => outcome === 'ok');
  bench.log(`${wanted} creates: ${tally(answers.map(({ status, error }) => status ?? error))}`);
  bench.measureNone('creates answered otherwise than 2xx, 429 or 503', wrongAnswers(answers), wanted);
  bench.measure({
    what: 'creates that were admitted, p99',
    measured:
      percentile(
        admitted.map(({ ms }) => ms),
        0.99,
      ) / 1_000,
    limit: 3,
    unit: 's',
    samples: admitted.length,
    needed: wanted * ADMITTED_SHARE,
  });
  return calls.flatMap(({ threadId, call }) =>
    call.outcome === 'ok' ? [{ threadId, runId: (call.body as { run_id: string }).run_id, steps: INPUT.steps }] : [],
  );
}

async function stormOfReconnects(bench: Bench, deployment: BenchDeployment, gateway: BenchGateway): Promise<void> {
  const wanted = bench.size({ fast: 50, full: 500 });
  const runs = await Promise.all(Array.from({ length: Math.ceil(wanted / 10) }, () => streamedRun(deployment)));
  const begun = runs.map(({ run, ids }) => ({ run, ids, at: Math.floor(ids.length / 3) }));
  const streams = await inOneSecond(bench, 'reconnections', wanted, async (index) => {
    const { run, ids, at } = begun[index % begun.length]!;
    const segment = await follow(`${gateway.deploymentUrl}/threads/${run.threadId}/runs/${run.runId}/stream`, {
      headers: gateway.headers,
      lastEventId: ids[at],
      signal: AbortSignal.timeout(60_000),
    });
    return { segment, expected: ids.slice(at + 1) };
  });
  bench.log(`${wanted} reconnections: ${tally(streams.map(({ segment }) => segment.status))}`);
  const wrong = streams.flatMap(({ segment }) => (isFit(segment) ? [] : [`${segment.status}, ${segment.end}`]));
  bench.measureNone('reconnections answered otherwise than 200, 429 or 503', wrong, wanted);
  const taken = streams.filter(({ segment }) => segment.status === 200);
  const incomplete = taken.flatMap(({ segment, expected }) => {
    const ids = segment.events.map(({ id }) => id);
    return ids.join() === expected.join() ? [] : [`${ids.length} of ${expected.length} events`];
  });
  const needed = wanted * ADMITTED_SHARE;
  bench.measureNone('reconnections that did not get the rest of their stream', incomplete, taken.length, needed);
}

/** A run that is over, with the ids of its events. */
async function streamedRun(deployment: BenchDeployment): Promise<{ run: AcceptedRun; ids: string[] }> {
  const run = await deployment.createRun(STREAMED, { run: { stream_resumable: true, stream_mode: ['custom'] } });
  if (!run) throw new Error('a run was not accepted');
  const url = `${deployment.url()}/threads/${run.threadId}/runs/${run.runId}/stream`;
  const { events } = await follow(url, { lastEventId: '-1' });
  return { run, ids: events.flatMap(({ id }) => (id === undefined ? [] : [id])) };
}

const isFit = ({ status, end }: Segment) => status === 429 || status === 503 || (status === 200 && end === 'whole');

/** Seconds until a create takes no longer than usual again, several times in a row. */
async function measureRecovery(
  bench: Bench,
  deployment: BenchDeployment,
  { usualMs, storm }: { usualMs: number; storm: string },
): Promise<void> {
  const since = performance.now();
  const normalMs = Math.max(2 * usualMs, usualMs + 25);
  let inARow = 0;
  await waitFor(
    async () => {
      const { ms, outcome } = await createStateless(deployment);
      inARow = outcome === 'ok' && ms <= normalMs ? inARow + 1 : 0;
      return inARow >= 5;
    },
    { timeoutMs: 60_000, intervalMs: 50, what: 'creates to take as long as usual' },
  ).catch(() => undefined);
  bench.measure({
    what: `usual latency again after a storm of ${storm}`,
    measured: (performance.now() - since) / 1_000,
    limit: 30,
    unit: 's',
    samples: 1,
  });
}

/** Starts so many of something evenly within a second; resolves when all are over. */
async function inOneSecond<T>(
  bench: Bench,
  what: string,
  count: number,
  start: (index: number) => Promise<T>,
): Promise<T[]> {
  const begunAt = performance.now();
  const all: Promise<T>[] = [];
  while (all.length < count) {
    const due = Math.min(count, Math.ceil(((performance.now() - begunAt) / 1_000) * count) + 1);
    while (all.length < due) all.push(start(all.length));
    await pause(5);
  }
  const seconds = (performance.now() - begunAt) / 1_000;
  bench.measure({
    what: `${what}: first → last sent`,
    measured: seconds,
    limit: STORM_SECONDS,
    unit: 's',
    samples: count,
  });
  return Promise.all(all);
}

function wrongAnswers(calls: readonly Call[]): string[] {
  return calls
    .filter(
      ({ outcome, status }) => outcome === 'failed' || (outcome === 'refused' && status !== 429 && status !== 503),
    )
    .concat(calls.filter(({ outcome }) => outcome === 'unknown'))
    .map(({ status, body, error }) => `${status ?? 'no answer'}: ${error ?? JSON.stringify(body)}`);
}

function tally(answers: readonly (string | number | undefined)[]): string {
  const counts = new Map<string, number>();
  for (const answer of answers) counts.set(String(answer), (counts.get(String(answer)) ?? 0) + 1);
  return [...counts].map(([answer, count]) => `${count}× ${answer}`).join(', ');
}
