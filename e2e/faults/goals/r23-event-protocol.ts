import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { waitFor } from '@runyard/test-kit';
import type { Bench } from '../bench/bench.ts';
import type { BenchDeployment } from '../bench/deployment.ts';
import { describeThreads } from '../bench/describe-threads.ts';
import type { BenchGateway } from '../bench/gateway.ts';
import { startStreamingDeployment } from '../bench/gateway-deployment.ts';
import type { Goal } from '../bench/goal.ts';
import { killParts } from '../bench/kill-parts.ts';
import { EventClients } from '../bench/protocol/event-clients.ts';
import { connectBySse, connectByWebSocket } from '../bench/protocol/event-connections.ts';
import { EventUnion } from '../bench/protocol/event-union.ts';
import { startRun } from '../bench/protocol/start-run.ts';
import { findEventFaults } from '../bench/stream-union.ts';

const KILLS = { fast: 5, full: 30 };
const INPUT = { steps: 4, sleepMs: 200, events: 8, bytes: 100 };
/** Times that clients are cut, of both kinds together. */
const CUTS = { fast: 50, full: 500 };
/** Milliseconds for which a stream that has everything may take to bring it. */
const READ_MS = 20_000;
const RETRY_MS = 100;
/** A worker has to be killed within the milliseconds between a commit and what is published after it. */
const GAPS_PERCENT = 1;

export const goal: Goal = {
  id: 'R23',
  title:
    'Events of version 2 come once each over server-sent events and websockets, whoever was killed and however often clients were cut, and their ids never repeat on a thread.',
  isFast: true,
  pythonTier: 'full',
  async run(bench) {
    const { deployment, gateway } = await startStreamingDeployment(bench);
    await followUnderKills(bench, deployment, gateway);
    if (bench.tier === 'full') await emptyRedis(bench, deployment);
  },
};

async function followUnderKills(bench: Bench, deployment: BenchDeployment, gateway: BenchGateway): Promise<void> {
  const { deploymentUrl: url, headers } = gateway;
  const options = { url, headers, ledger: deployment.ledger, input: INPUT };
  const count = bench.size({ fast: 4, full: 15 });
  const bySse = new EventClients({ ...options, random: bench.random.fork('sse') });
  const byWebSocket = new EventClients({ ...options, random: bench.random.fork('websocket') });
  bySse.follow(count, connectBySse);
  byWebSocket.follow(count, connectByWebSocket);
  const kills = bench.size(KILLS);
  await killParts(bench, [...deployment.workers, ...deployment.agentApis, gateway.part], kills);
  // The kills are over sooner than the cuts on a machine that has other work.
  const areCutEnough = () => Math.min(bySse.cuts, byWebSocket.cuts) >= bench.size(CUTS);
  await waitFor(areCutEnough, { timeoutMs: 120_000, what: 'all cuts' });
  await Promise.all([bySse.stop(), byWebSocket.stop()]);
  bench.log(`${bySse.followed.length} threads followed by SSE, ${byWebSocket.followed.length} by websocket`);
  bench.measureEnough('processes killed', kills, kills);
  bench.measureEnough('streams cut that came back', bySse.cuts, bench.size(CUTS));
  bench.measureEnough('websockets cut that came back', byWebSocket.cuts, bench.size(CUTS));
  const wrong: string[] = [];
  const holes = new Map<string, string[]>();
  let withGap = 0;
  const followed = [...bySse.followed, ...byWebSocket.followed];
  for (const { threadId, runs, union } of followed) {
    const whole = await readThread(deployment, threadId, runs);
    const difference = union.difference(whole.ids);
    if (difference) wrong.push(`thread ${threadId}: ${difference}`);
    wrong.push(...[...union.faults, ...whole.faults].map((fault) => `thread ${threadId}: ${fault}`));
    const faults = findEventFaults(whole.customData, { ...INPUT, steps: INPUT.steps * runs });
    if (whole.gaps > 0) withGap += 1;
    else if (faults.length > 0) holes.set(threadId, faults);
  }
  const unfinished = [...bySse.unfinished, ...byWebSocket.unfinished];
  const course = await describeThreads(deployment, [...holes.keys(), ...unfinished.map(({ threadId }) => threadId)]);
  const describe = (threadId: string, fault: string) => `thread ${threadId}: ${fault}; ${course.get(threadId)}`;
  const needed = 2 * count;
  bench.measureNone('threads with events missing, repeated or out of order', wrong, followed.length, needed);
  bench.measureNone(
    'events of a graph that never reached its thread, without a gap',
    [...holes].flatMap(([threadId, faults]) => faults.map((fault) => describe(threadId, fault))),
    followed.length,
    needed,
  );
  if (bench.tier === 'full') {
    bench.measure({
      what: 'threads where a gap says that events may be missing',
      measured: (100 * withGap) / followed.length,
      limit: GAPS_PERCENT,
      unit: '%',
      samples: followed.length,
      needed,
    });
  }
  bench.measureNone(
    'threads whose runs were not all told to have ended',
    unfinished.map(({ threadId, runs, union }) => describe(threadId, `${union.ended} of ${runs} runs ended`)),
    followed.length,
    needed,
  );
}

/** Reads all events of a thread at once from one process, up to the end of so many runs. */
async function readThread(deployment: BenchDeployment, threadId: string, runs: number): Promise<EventUnion> {
  const union = new EventUnion();
  const read = new AbortController();
  const late = setTimeout(() => read.abort(), READ_MS);
  await connectBySse({
    url: deployment.url(),
    headers: {},
    threadId,
    signal: read.signal,
    onEvent: (event) => {
      union.add(event, undefined);
      if (union.ended >= runs) read.abort();
    },
  });
  clearTimeout(late);
  if (union.ended < runs) throw new Error(`the events of thread ${threadId} cannot be had in one go`);
  return union;
}

/**
 * Empties Redis while clients follow a run: each gets all of its events or a gap, and its end; and events of a later run
 * have ids that none had before.
 */
async function emptyRedis(bench: Bench, deployment: BenchDeployment): Promise<void> {
  const input = { steps: 20, sleepMs: 300, events: 1 };
  const { redis } = bench.servers;
  const wrong: string[] = [];
  const threads = Array.from({ length: bench.size({ fast: 2, full: 10 }) }, (_, index) => ({
    threadId: randomUUID(),
    union: new EventUnion(),
    connect: index % 2 === 0 ? connectBySse : connectByWebSocket,
    leaving: new AbortController(),
  }));
  const start = async (threadId: string, steps: number) => {
    const params = deployment.ledger.runRequest({ ...input, steps });
    const until = Date.now() + READ_MS;
    if (!(await startRun({ url: deployment.url(), headers: {}, threadId, params, until })))
      throw new Error(`no run was started on ${threadId}`);
  };
  const following = threads.map(async ({ threadId, union, connect, leaving: { signal } }) => {
    while (!signal.aborted) {
      const { since } = union;
      const onEvent: Parameters<typeof connect>[0]['onEvent'] = (event) => union.add(event, since);
      const { wasOpen } = await connect({ url: deployment.url(), headers: {}, threadId, since, signal, onEvent });
      if (!wasOpen) await pause(RETRY_MS);
    }
  });
  const told = (what: string, isTold: (union: EventUnion) => boolean) =>
    waitFor(() => threads.every(({ union }) => isTold(union)), { what, timeoutMs: 60_000 });
  await Promise.all(threads.map(({ threadId }) => start(threadId, input.steps)));
  await told('all runs to be under way', ({ customData }) => customData.length >= 2);
  await redis.kill();
  await redis.wipe();
  await redis.start();
  await told('the end of all runs', ({ ended }) => ended >= 1);
  for (const { threadId, union } of threads) {
    if (union.customData.length < input.steps && union.gaps === 0) wrong.push(`${threadId} lacks events silently`);
  }
  await Promise.all(threads.map(({ threadId }) => start(threadId, input.steps + 2)));
  await told('the end of later runs', ({ ended }) => ended >= 2);
  for (const { leaving } of threads) leaving.abort();
  await Promise.all(following);
  for (const { threadId, union } of threads) wrong.push(...union.faults.map((fault) => `${threadId}: ${fault}`));
  bench.measureNone('threads with lost events or repeated ids when Redis was emptied', wrong, threads.length);
}
