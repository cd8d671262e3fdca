import { percentile, waitFor } from '@runyard/test-kit';
import type { Bench } from '../bench/bench.ts';
import type { BenchDeployment, BenchRun } from '../bench/deployment.ts';
import { anySignal, type FollowedEvent, followStream } from '../bench/event-follower.ts';
import type { BenchGateway } from '../bench/gateway.ts';
import { startStreamingDeployment } from '../bench/gateway-deployment.ts';
import type { Goal } from '../bench/goal.ts';
import { killParts } from '../bench/kill-parts.ts';
import { SdkStreams } from '../bench/sdk-streams.ts';
import { StreamClients } from '../bench/stream-clients.ts';
import { findEventFaults, StreamUnion } from '../bench/stream-union.ts';

const KILLS = { fast: 5, full: 30 };
const INPUT = { steps: 6, sleepMs: 250, events: 12, bytes: 100 };

export const goal: Goal = {
  id: 'R2',
  title:
    'A stream goes on without an event missing or repeated, whoever was killed and however often clients were cut.',
  pythonTier: 'full',
  async run(bench) {
    const { deployment, gateway } = await startStreamingDeployment(bench);
    await streamUnderKills(bench, deployment, gateway);
    if (bench.tier === 'full') await emptyRedis(bench, deployment);
  },
};

async function streamUnderKills(bench: Bench, deployment: BenchDeployment, gateway: BenchGateway): Promise<void> {
  const clients = bench.size({ fast: 12, full: 50 });
  const sdkClients = Math.ceil(clients / 6);
  const threadClients = Math.ceil(clients / 6);
  const { deploymentUrl: url, headers } = gateway;
  const options = { url, headers, ledger: deployment.ledger, input: INPUT };
  const raw = new StreamClients({ ...options, random: bench.random.fork('clients') });
  raw.followRuns(clients - sdkClients - threadClients);
  raw.followThreads(threadClients);
  raw.lookIn(2);
  const sdk = new SdkStreams(sdkClients, { ...options, random: bench.random.fork('sdk') });
  const kills = bench.size(KILLS);
  await killParts(bench, [...deployment.workers, ...deployment.agentApis, gateway.part], kills);
  await Promise.all([raw.stop(), sdk.stop()]);
  const reconnects = sum(raw.followed.map((each) => each.reconnects));
  bench.log(
    `${kills} kills; ${raw.followed.length} streams of runs with ${reconnects} reconnections, ` +
      `${raw.followedThreads.length} of threads, ${sdk.streamed.length} of the SDK with ${sdk.reconnects}`,
  );
  bench.measureEnough('processes killed', kills, kills);
  bench.measureEnough('times a client was cut and came back', reconnects + sdk.reconnects, clients);
  await measureStreams(bench, deployment, { raw, sdk }, clients);
}

async function measureStreams(
  bench: Bench,
  deployment: BenchDeployment,
  { raw, sdk }: { raw: StreamClients; sdk: SdkStreams },
  clients: number,
): Promise<void> {
  const wrong: string[] = [];
  const holes: string[] = [];
  for (const { run, union } of raw.followed) {
    const whole = await wholeRun(deployment, run);
    const difference = union.difference(idsOf(whole));
    if (difference) wrong.push(`run ${run.runId}: ${difference}`);
    const data = whole.filter(({ event }) => event === 'custom').map((event) => event.data);
    holes.push(...findEventFaults(data, INPUT).map((hole) => `run ${run.runId}: ${hole}`));
  }
  for (const { run, union, hasLostItsPlace } of sdk.streamed) {
    const whole = idsOf(await wholeRun(deployment, run));
    // Without an event there is no id to resume from: the SDK joins anew, and gets events from then on.
    const from = hasLostItsPlace ? whole.indexOf(union.ids[0] ?? '') : 0;
    const difference = from < 0 ? undefined : union.difference(whole.slice(from));
    if (difference) wrong.push(`run ${run.runId}, by the SDK: ${difference}`);
  }
  for (const { threadId, runs, union } of raw.followedThreads) {
    const difference = union.difference(idsOf(await wholeThread(deployment, threadId, runs.length)));
    if (difference) wrong.push(`thread ${threadId}: ${difference}`);
  }
  const streams = raw.followed.length + sdk.streamed.length + raw.followedThreads.length;
  bench.measureNone('streams with events missing, repeated or out of order', wrong, streams, clients);
  bench.measureNone('events of a graph that never reached its stream', holes, raw.followed.length);
  const never = [...raw.faults, ...sdk.faults];
  bench.measureNone('streams and joins that did not come to their end', never, streams, clients);
  const { firstEventMs } = raw;
  bench.measure({
    what: 'first event of a new client, p99',
    measured: percentile(firstEventMs, 0.99) / 1_000,
    limit: 1,
    unit: 's',
    samples: firstEventMs.length,
    needed: bench.size({ fast: 5, full: 100 }),
  });
}

const idsOf = (events: readonly FollowedEvent[]) => {
  const union = new StreamUnion();
  for (const event of events) union.add(event);
  return union.ids;
};
const sum = (numbers: readonly number[]) => numbers.reduce((all, each) => all + each, 0);

/** Returns all events of a run, at once from one process. */
async function wholeRun(deployment: BenchDeployment, { threadId, runId }: BenchRun): Promise<FollowedEvent[]> {
  const url = `${deployment.url()}/threads/${threadId}/runs/${runId}/stream`;
  const { events, end } = await followStream(url, { lastEventId: '-1', signal: AbortSignal.timeout(20_000) });
  if (end !== 'whole') throw new Error(`the stream of run ${runId} cannot be had in one go`);
  return events;
}

/** Returns all events of a thread up to the end of its runs. */
async function wholeThread(deployment: BenchDeployment, threadId: string, runs: number): Promise<FollowedEvent[]> {
  const leaving = new AbortController();
  let ended = 0;
  const { events } = await followStream(`${deployment.url()}/threads/${threadId}/stream`, {
    lastEventId: '-1',
    signal: anySignal(leaving.signal, AbortSignal.timeout(20_000)),
    onEvent: ({ event, data }) => {
      if (event === 'metadata' && (data as { status?: string }).status === 'run_done') ended += 1;
      if (ended === runs) leaving.abort();
    },
  });
  return events;
}

/** Empties Redis while clients are in the middle of a stream: each gets a gap, and its stream ends with its run. */
async function emptyRedis(bench: Bench, deployment: BenchDeployment): Promise<void> {
  const clients = bench.size({ fast: 3, full: 10 });
  const silent: string[] = [];
  const { redis } = bench.servers;
  let begun = 0;
  const streams = Array.from({ length: clients }, async (_, client) => {
    const isResumable = client % 2 === 0;
    const overrides = { stream_resumable: isResumable, stream_mode: ['custom'], on_disconnect: 'continue' };
    const input = { steps: 20, sleepMs: 300, events: 1 };
    const { events, end } = await followStream(`${deployment.url()}/runs/stream`, {
      method: 'POST',
      body: deployment.ledger.runRequest(input, { ...overrides, on_completion: 'keep' }),
      signal: AbortSignal.timeout(60_000),
      onEvent: ({ event, data }) => {
        if (event === 'custom' && (data as { step: number }).step === 2) begun += 1;
      },
    });
    const name = isResumable ? 'a resumable stream' : 'a stream';
    if (end !== 'whole') silent.push(`${name} did not end`);
    const steps = events.filter(({ event }) => event === 'custom').length;
    if (steps < input.steps && !events.some(({ event }) => event === 'gap'))
      silent.push(`${name} lacks events silently`);
  });
  await waitFor(() => begun >= clients, { what: 'all streams to be under way', timeoutMs: 30_000 });
  await redis.kill();
  await redis.wipe();
  await redis.start();
  await Promise.all(streams);
  bench.measureNone('streams that hung or kept silent when Redis was emptied', silent, clients);
}
