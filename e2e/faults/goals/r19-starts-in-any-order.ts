import { setTimeout as pause } from 'node:timers/promises';
import { waitFor } from '@runyard/test-kit';
import type { Bench } from '../bench/bench.ts';
import type { Goal } from '../bench/goal.ts';
import type { Part, ServiceName } from '../bench/part.ts';
import { type ServerName, WholeDeployment } from '../bench/whole-deployment.ts';

type Piece = ServiceName | ServerName;

const SERVERS: readonly ServerName[] = ['postgres', 'redis'];
/** The pieces that each service needs to work. */
const NEEDS: Partial<Record<ServiceName, readonly Piece[]>> = {
  'org-access': ['postgres'],
  'control-plane': ['postgres'],
  // It takes over what control-plane kept of it once.
  registry: ['postgres'],
  'oauth-broker': ['postgres'],
  'run-history': ['postgres'],
  gateway: ['control-plane'],
  'agent-api': ['postgres', 'redis'],
  'run-worker': ['postgres', 'redis'],
};
const READY_WITHIN_S = 15;
const LOOK_MS = 40;

/** Observations over all orders. */
interface Seen {
  liveAfter: number[];
  readyAfter: number[];
  readyTooEarly: string[];
  ended: string[];
  unusable: string[];
}

export const goal: Goal = {
  id: 'R19',
  title: 'Services and servers may start in any order: each is alive at once, and ready when it can do its work.',
  async run(bench) {
    const orders = bench.size({ fast: 3, full: 24 });
    const seen: Seen = { liveAfter: [], readyAfter: [], readyTooEarly: [], ended: [], unusable: [] };
    const deployment = await WholeDeployment.open(bench.servers, bench.folder);
    bench.onClose(() => deployment.close());
    for (let count = 0; count < orders; count += 1) {
      const order = bench.random.shuffle<Piece>([...deployment.serviceNames, ...SERVERS]);
      bench.log(order.join(', '));
      await startInOrder(bench, deployment, order, seen);
      await stopAll(deployment, seen);
    }
    const samples = seen.liveAfter.length;
    const starts = orders * deployment.serviceNames.length;
    const max = (what: string, measured: number[], limit: number, needed: number) =>
      bench.measure({ what, measured: Math.max(...measured), limit, unit: 's', samples: measured.length, needed });
    max('started → alive, max', seen.liveAfter, 5, starts);
    max('last one there → all ready, max', seen.readyAfter, READY_WITHIN_S, orders);
    bench.measureNone('services ready before what they need was there', seen.readyTooEarly, samples, starts);
    bench.measureNone('services that ended by themselves, or not with 0', seen.ended, samples, starts);
    bench.measureNone('orders after which no run was executed', seen.unusable, seen.readyAfter.length, orders);
  },
};

async function startInOrder(bench: Bench, deployment: WholeDeployment, order: readonly Piece[], seen: Seen) {
  await Promise.all(SERVERS.map((server) => deployment.takeAway(server)));
  const there = new Set<Piece>();
  const watches: Promise<void>[] = [];
  let lastAt = 0;
  for (const piece of order) {
    lastAt = performance.now();
    // This comes before the start: the piece may be up before its command returns.
    there.add(piece);
    if (isServer(piece)) await deployment.giveBack(piece);
    else {
      await deployment.part(piece).start({ until: 'spawned' });
      watches.push(watch(piece, deployment.part(piece), there, seen));
    }
    await pause(bench.random.integer(0, 600));
  }
  await Promise.all(watches);
  seen.readyAfter.push((performance.now() - lastAt) / 1000);
  const answer = await fetch(`${deployment.part('agent-api').url}/runs/wait`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(deployment.ledger.runRequest({ steps: 1 })),
    signal: AbortSignal.timeout(READY_WITHIN_S * 1000),
  }).then(
    async (response) => `${response.status} ${await response.text()}`,
    (error: Error) => error.message,
  );
  if (!answer.includes('"done":[0]')) seen.unusable.push(`${order.join(', ')}: ${answer}`);
}

/** Resolves when the service is ready, or is given up. */
async function watch(name: ServiceName, part: Part, there: ReadonlySet<Piece>, seen: Seen): Promise<void> {
  const startedAt = performance.now();
  let isLive = false;
  const look = async () => {
    if (!part.isUp) return true;
    if (!isLive && (await answers(`${part.url}/ok`))) {
      isLive = true;
      seen.liveAfter.push((performance.now() - startedAt) / 1000);
    }
    const isReady = await part.isReady();
    const missing = (NEEDS[name] ?? []).filter((piece) => !there.has(piece));
    if (isReady && missing.length > 0) seen.readyTooEarly.push(`${name} without ${missing.join(' and ')}`);
    // A service that started between the two requests is checked for liveness again.
    return isReady && isLive;
  };
  const patience = { timeoutMs: 4 * READY_WITHIN_S * 1000, intervalMs: LOOK_MS, what: `${name} to be ready` };
  await waitFor(look, patience).catch((error: Error) => seen.ended.push(error.message));
  if (!part.isUp) seen.ended.push(`${name} ended: ${part.output().slice(-500)}`);
}

async function stopAll({ services }: WholeDeployment, { ended }: Seen): Promise<void> {
  await Promise.all(
    [...services].map(async ([name, part]) => {
      if (!part.isUp) return;
      const { code, signal } = await part.stop();
      if (code !== 0) ended.push(`${name} was stopped and ended with ${code ?? signal}`);
    }),
  );
}

function isServer(piece: Piece): piece is ServerName {
  return SERVERS.some((server) => server === piece);
}

function answers(url: string): Promise<boolean> {
  return fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
    ({ ok }) => ok,
    () => false,
  );
}
