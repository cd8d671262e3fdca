import { percentile, waitFor } from '@runyard/test-kit';
import type { Bench } from '../bench/bench.ts';
import { type BenchDeployment, type BenchRun, MANY_STREAMS } from '../bench/deployment.ts';
import { followStream, type Segment } from '../bench/event-follower.ts';
import { BenchGateway } from '../bench/gateway.ts';
import type { Goal } from '../bench/goal.ts';
import type { Call } from '../bench/history.ts';
import { measureRuns } from '../bench/outage-checks.ts';
import { StormClient } from '../bench/storm-client.ts';

const INPUT = { steps: 1 };
/** The machine also receives what it sends, which adds to the second. */
const STORM_SECONDS = 1.5;
/** A storm that is refused as a whole was not withstood. */
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
    // The gateway starts only now: the first request of the storm is the first it ever gets.
    const gateway = await BenchGateway.start(deployment, bench.servers, {}, { isDirect: true });
    bench.onClose(() => gateway.close());
    const client = await StormClient.start();
    bench.onClose(() => client.close());
    const accepted = await stormOfCreates(bench, { deployment, gateway, client });
    await measureRecovery(bench, deployment, { usualMs, storm: 'creates' });
    await deployment.audit.untilAllEnded(180_000);
    await stormOfReconnects(bench, { deployment, gateway, client });
    await measureRecovery(bench, deployment, { usualMs, storm: 'reconnections' });
    await measureRuns(bench, deployment, accepted);
    const died = [...deployment.parts, gateway.part].filter(({ isUp }) => !isUp).map(({ service }) => service);
    const replaced = deployment.parts.filter(({ pid }, index) => pid !== pids[index]).map(({ service }) => service);
    bench.measureNone('processes that died', [...died, ...replaced], deployment.parts.length + 1);
  },
};

/** Returns the slowest milliseconds of some creates on an idle deployment. */
async function usualLatency(deployment: BenchDeployment): Promise<number> {
  const times: number[] = [];
  for (let count = 0; count < 30; count += 1) times.push((await createStateless(deployment)).ms);
  return percentile(times.slice(10), 0.9);
}

function createStateless(deployment: BenchDeployment): Promise<Call> {
  return deployment.call('POST', '/runs', { body: deployment.ledger.runRequest(INPUT) });
}

interface Parts {
  deployment: BenchDeployment;
  gateway: BenchGateway;
  client: StormClient;
}

async function stormOfCreates(bench: Bench, { deployment, gateway, client }: Parts): Promise<BenchRun[]> {
  const wanted = bench.size({ fast: 200, full: 2_000 });
  const threadIds = Array.from({ length: wanted }, () => crypto.randomUUID());
  const { calls, sendingSeconds } = await client.send({
    calls: threadIds.map((threadId) => ({
      method: 'POST',
      url: `${gateway.deploymentUrl}/threads/${threadId}/runs`,
      headers: gateway.headers,
      body: deployment.ledger.runRequest(INPUT),
    })),
  });
  measureSending(bench, 'creates', sendingSeconds, wanted);
  const admitted = calls.filter(({ outcome }) => outcome === 'ok');
  bench.log(`${wanted} creates: ${tally(calls.map(({ status, error }) => status ?? error))}`);
  bench.measureNone('creates answered otherwise than 2xx, 429 or 503', wrongAnswers(calls), wanted);
  const limits = { limit: 3, unit: 's', needed: wanted * ADMITTED_SHARE };
  const atClient = admitted.map(({ ms }) => ms);
  bench.measure({
    what: 'creates that were admitted, p99 at the client',
    measured: percentile(atClient, 0.99) / 1_000,
    samples: atClient.length,
    ...limits,
  });
  const { p99AtMostMs, count } = await gateway.admittedCreates();
  bench.measure({
    what: 'creates that were admitted, p99 at the gateway is at most',
    measured: p99AtMostMs / 1_000,
    samples: count,
    ...limits,
  });
  return calls.flatMap(({ outcome, body }, index) =>
    outcome === 'ok'
      ? [{ threadId: threadIds[index]!, runId: (body as { run_id: string }).run_id, steps: INPUT.steps }]
      : [],
  );
}

async function stormOfReconnects(bench: Bench, { deployment, gateway, client }: Parts): Promise<void> {
  const wanted = bench.size({ fast: 50, full: 500 });
  const runs = await Promise.all(Array.from({ length: Math.ceil(wanted / 10) }, () => streamedRun(deployment)));
  const begun = runs.map(({ run, ids }) => ({ run, ids, at: Math.floor(ids.length / 3) }));
  const asked = Array.from({ length: wanted }, (_, index) => begun[index % begun.length]!);
  const { streams, sendingSeconds } = await client.send({
    streams: asked.map(({ run, ids, at }) => ({
      url: `${gateway.deploymentUrl}/threads/${run.threadId}/runs/${run.runId}/stream`,
      headers: gateway.headers,
      lastEventId: ids[at],
    })),
  });
  measureSending(bench, 'reconnections', sendingSeconds, wanted);
  bench.log(`${wanted} reconnections: ${tally(streams.map(({ status }) => status))}`);
  const wrong = streams.flatMap((stream) => (isFit(stream) ? [] : [`${stream.status}, ${stream.end}`]));
  bench.measureNone('reconnections answered otherwise than 200, 429 or 503', wrong, wanted);
  const taken = streams
    .map((stream, index) => ({ stream, from: asked[index]! }))
    .filter(({ stream }) => stream.status === 200);
  const incomplete = taken.flatMap(({ stream, from }) => {
    const expected = from.ids.slice(from.at + 1);
    return stream.ids.join() === expected.join() ? [] : [`${stream.ids.length} of ${expected.length} events`];
  });
  const needed = wanted * ADMITTED_SHARE;
  bench.measureNone('reconnections that did not get the rest of their stream', incomplete, taken.length, needed);
}

function measureSending(bench: Bench, what: string, seconds: number, samples: number): void {
  bench.measure({ what: `${what}: first → last sent`, measured: seconds, limit: STORM_SECONDS, unit: 's', samples });
}

/** Returns an ended run, with the ids of its events. */
async function streamedRun(deployment: BenchDeployment): Promise<{ run: BenchRun; ids: string[] }> {
  const run = await deployment.createRun(STREAMED, { run: { stream_resumable: true, stream_mode: ['custom'] } });
  if (!run) throw new Error('a run was not accepted');
  const url = `${deployment.url()}/threads/${run.threadId}/runs/${run.runId}/stream`;
  const { events } = await followStream(url, { lastEventId: '-1' });
  return { run, ids: events.flatMap(({ id }) => (id === undefined ? [] : [id])) };
}

const isFit = ({ status, end }: Pick<Segment, 'status' | 'end'>) =>
  status === 429 || status === 503 || (status === 200 && end === 'whole');

/** Measures the seconds until a create takes no longer than usual again, several times in a row. */
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
