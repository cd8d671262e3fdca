import { percentile, waitFor } from '@runyard/test-kit';
import type { Bench } from '../bench/bench.ts';
import type { BenchDeployment, BenchRun } from '../bench/deployment.ts';
import type { Goal } from '../bench/goal.ts';
import { BEHAVIOURS, BenchReceiver, type ReceivedTry } from '../bench/webhook-receivers.ts';

type Kind = keyof typeof BEHAVIOURS;

const SECRET = `whsec_${Buffer.from('a secret of the fault bench').toString('base64')}`;
/** The share of the schedule's pause that may lie between two tries. */
const JITTER = { least: 0.8, most: 1.2 };
const FIRST_PAUSES_MS = [1_000, 3_000, 10_000];
/** Milliseconds by which a sender may be late. */
const LATE_MS = 1_000;

export const goal: Goal = {
  id: 'R21',
  title:
    'Receivers of webhooks that hang, fail, cut or are gone delay nobody else; what they are told again has the same id.',
  async run(bench) {
    const deployment = await bench.deployment({
      agentApis: 2,
      env: {
        OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8',
        WEBHOOK_SIGNING_SECRETS: SECRET,
      },
    });
    const receivers = new Map<Kind, BenchReceiver>();
    for (const kind of Object.keys(BEHAVIOURS) as Kind[]) {
      const receiver = await new BenchReceiver(BEHAVIOURS[kind]).open();
      receivers.set(kind, receiver);
      bench.onClose(() => receiver.close());
    }
    const of = (kind: Kind) => receivers.get(kind) as BenchReceiver;

    const perKind = bench.size({ fast: 6, full: 20 });
    const told = await tell(deployment, receivers, perKind);
    await waitUntilEnded(deployment, 120_000);
    const delays = await delaysOf(deployment, told.get('good') ?? [], of('good'));
    bench.measure({
      what: 'end of a run → its well-behaved receiver told, p99',
      measured: percentile(delays, 0.99) / 1000,
      limit: 2,
      unit: 's',
      samples: delays.length,
      needed: perKind,
    });
    judgeRetries(bench, told, of);

    const beforeKills = await tell(deployment, receivers, perKind);
    await killSenders(bench, deployment, of('good'));
    await waitUntilEnded(deployment, 180_000);
    judgeDelivery(bench, beforeKills, of);
  },
};

/**
 * Creates runs that notify each receiver, all at once; the good ones are among the others, so that they meet them in
 * the queue.
 */
async function tell(
  deployment: BenchDeployment,
  receivers: Map<Kind, BenchReceiver>,
  perKind: number,
): Promise<Map<Kind, BenchRun[]>> {
  const told = new Map<Kind, BenchRun[]>([...receivers.keys()].map((kind) => [kind, []]));
  for (let index = 0; index < perKind; index += 1) {
    await Promise.all(
      [...receivers].map(async ([kind, { url }]) => {
        const run = await deployment.createRun({ steps: 1 }, { at: index % 2, run: { webhook: url } });
        if (run) told.get(kind)?.push(run);
      }),
    );
  }
  return told;
}

async function waitUntilEnded(deployment: BenchDeployment, timeoutMs: number): Promise<void> {
  await deployment.audit.untilAllEnded(60_000);
  await waitFor(
    async () => {
      const { rows } = await deployment.pool.query(`SELECT 1 FROM webhook_delivery WHERE status = 'pending' LIMIT 1`);
      return rows.length === 0;
    },
    { timeoutMs, intervalMs: 200, what: 'the last webhook' },
  );
}

/** Returns the milliseconds from the end of each run to its first try. */
async function delaysOf(deployment: BenchDeployment, runs: BenchRun[], receiver: BenchReceiver): Promise<number[]> {
  const { rows } = await deployment.pool.query<{ run_id: string; ended_at: Date }>(
    'SELECT run_id, ended_at FROM run WHERE run_id = ANY($1::uuid[])',
    [runs.map(({ runId }) => runId)],
  );
  return rows.map(({ run_id, ended_at }) => {
    const [first] = receiver.triesOf(run_id);
    return first ? Math.max(0, first.at - ended_at.getTime()) : Number.POSITIVE_INFINITY;
  });
}

function judgeRetries(bench: Bench, told: Map<Kind, BenchRun[]>, of: (kind: Kind) => BenchReceiver): void {
  const expected: Record<Kind, number> = { good: 1, slow: 2, failing: 4, gone: 1, cutting: 3 };
  const wrong = [...told].flatMap(([kind, runs]) =>
    runs
      .map(({ runId }) => ({ runId, tries: of(kind).triesOf(runId).length }))
      // Deliveries that wait for a receiver that answered 410 end untried.
      .filter(({ tries }) => (kind === 'gone' ? tries > 1 : tries !== expected[kind]))
      .map(({ runId, tries }) => `${kind}: ${runId} was tried ${tries} times`),
  );
  const all = [...told].flatMap(([kind, runs]) => runs.map(({ runId }) => of(kind).triesOf(runId)));
  if (of('gone').tries.length === 0) wrong.push('gone: nobody was ever tried');
  bench.measureNone('deliveries with another number of tries', wrong, all.length);
  bench.measureNone('tries with another id than the first', all.flatMap(otherIds), all.length);
  bench.measureNone('tries with the time of the one before', all.flatMap(oldTimes), all.length);

  const pauses = (told.get('failing') ?? []).flatMap(({ runId }) =>
    of('failing')
      .triesOf(runId)
      .slice(1)
      .map((each, index, tries) => ({
        index,
        ms: each.at - (index === 0 ? of('failing').triesOf(runId)[0] : tries[index - 1])!.at,
      })),
  );
  const offSchedule = pauses.filter(({ index, ms }) => {
    const wanted = FIRST_PAUSES_MS[index] ?? 0;
    return ms < wanted * JITTER.least || ms > wanted * JITTER.most + LATE_MS;
  });
  bench.measureNone(
    'tries off the schedule',
    offSchedule.map(({ index, ms }) => `pause ${index + 1} took ${ms} ms`),
    pauses.length,
    (told.get('failing') ?? []).length * FIRST_PAUSES_MS.length,
  );
  const firsts = pauses.filter(({ index }) => index === 0).map(({ ms }) => ms);
  bench.measure({
    what: 'spread of the first pauses (they are not all alike)',
    measured: Math.max(...firsts) - Math.min(...firsts),
    limit: 50,
    unit: 'ms',
    samples: firsts.length,
    atLeast: true,
  });
}

/** Kills senders while they send; their deliveries in flight return by their lease, which outlasts a try. */
async function killSenders(bench: Bench, deployment: BenchDeployment, good: BenchReceiver): Promise<void> {
  for (const part of bench.random.shuffle(deployment.agentApis)) {
    const before = good.tries.length;
    await waitFor(() => good.tries.length > before, { timeoutMs: 2_000, what: 'a try' }).catch(() => undefined);
    await part.kill();
    await part.start();
  }
}

function judgeDelivery(bench: Bench, told: Map<Kind, BenchRun[]>, of: (kind: Kind) => BenchReceiver): void {
  const runs = [...told]
    .filter(([kind]) => kind !== 'gone')
    .flatMap(([kind, some]) => some.map((run) => ({ kind, run })));
  const never = runs.filter(({ kind, run }) => of(kind).triesOf(run.runId).length === 0);
  bench.measureNone(
    'webhooks lost with their sender',
    never.map(({ kind, run }) => `${kind}: ${run.runId}`),
    runs.length,
  );
  const all = runs.map(({ kind, run }) => of(kind).triesOf(run.runId));
  bench.measureNone('tries after a kill with another id', all.flatMap(otherIds), all.length);
}

function otherIds(tries: ReceivedTry[]): string[] {
  return tries.filter(({ id }) => id !== tries[0]?.id).map(({ runId, id }) => `${runId}: ${id}`);
}

function oldTimes(tries: ReceivedTry[]): string[] {
  return tries
    .filter((each, index) => {
      const before = tries[index - 1];
      return before && (each.timestamp < before.timestamp || each.sentAt <= before.sentAt);
    })
    .map(({ runId }) => runId);
}
