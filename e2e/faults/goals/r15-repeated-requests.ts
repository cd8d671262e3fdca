import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Bench } from '../bench/bench.ts';
import type { BenchDeployment, BenchRun } from '../bench/deployment.ts';
import type { Goal } from '../bench/goal.ts';
import type { Call } from '../bench/history.ts';
import { measureOutage, measureRuns } from '../bench/outage-checks.ts';
import { type RetriedRequest, RetryingClient } from '../bench/retrying-client.ts';

/** Concurrent clients that repeat one key each. */
const LANES = 5;
const STEPS = 2;
const BATCH = 3;
const KINDS = ['runs', 'runs/stream', 'runs/wait', 'batch', 'thread'] as const;

interface GoalLimits extends RetriedRequest {
  kind: (typeof KINDS)[number];
  threadId: string;
  calls: Call[];
}

export const goal: Goal = {
  id: 'R15',
  title:
    'A creation that is sent again with its idempotency key, because connections break and servers are killed, is made once and answered alike.',
  isFast: true,
  async run(bench) {
    const deployment = await bench.deployment({ agentApis: 2, workers: 2, bus: 'redis' });
    const [keys, times] = [bench.size({ fast: 10, full: 100 }), bench.size({ fast: 20, full: 100 })];
    const asked = Array.from({ length: Math.max(keys, KINDS.length) }, (_, n) => aRequest(deployment, n));
    const stopKilling = killNowAndThen(bench, deployment);
    const waiting = [...asked];
    await Promise.all(
      Array.from({ length: LANES }, async (_, lane) => {
        const client = await RetryingClient.open(deployment, bench.random.fork(`lane ${lane}`));
        bench.onClose(() => client.close());
        for (let next = waiting.shift(); next; next = waiting.shift()) {
          next.calls.push(...(await client.insist(next, times)));
        }
      }),
    );
    const kills = await stopKilling();
    bench.log(`asked ${keys} keys ${times} times over connections that were cut; now over whole ones`);
    const client = await RetryingClient.open(deployment, bench.random);
    bench.onClose(() => client.close());
    for (const each of asked) each.calls.push(...(await client.settle(each)));
    await deployment.audit.untilAllEnded(60_000);

    const calls = asked.reduce((sum, each) => sum + each.calls.length, 0);
    const cut = asked.flatMap((each) => each.calls).filter(({ outcome }) => outcome === 'unknown').length;
    bench.log(`${asked.length} keys, ${calls} requests, ${cut} of them cut; ${kills} kills`);
    bench.measureEnough('requests cut', cut, asked.length);
    bench.measureEnough('agent servers killed', kills, 1);
    bench.measureNone('keys that made nothing, or twice', await wronglyMade(deployment, asked), asked.length, keys);
    bench.measureNone('answers of a key that differ', differing(asked), calls, keys * times);
    const onThreads = await runsOnThreads(deployment, asked);
    await measureRuns(bench, deployment, onThreads);
    const begun = (await deployment.ledger.entries()).filter(({ what }) => what === 'begun');
    const steps = begun.map(({ run, step }) => `step ${step} of ${run}`);
    const repeated = steps.filter((step, index) => steps.indexOf(step) !== index);
    bench.measureNone('steps executed twice', repeated, steps.length);
    measureOutage(bench, [deployment.history], { boundSeconds: 60 });
  },
};

function aRequest(deployment: BenchDeployment, n: number): GoalLimits {
  const kind = KINDS[n % KINDS.length]!;
  const [key, threadId] = [randomUUID(), randomUUID()];
  const asked = { kind, key, threadId, calls: [] };
  const metadata = { bench_key: key };
  if (kind === 'thread') return { ...asked, path: '/threads', body: { thread_id: threadId, metadata } };
  const run = deployment.ledger.runRequest(
    { steps: STEPS, sleepMs: 20, events: 2 },
    { metadata, stream_resumable: true, stream_mode: ['custom', 'values'] },
  );
  if (kind === 'batch') return { ...asked, path: '/runs/batch', body: Array.from({ length: BATCH }, () => run) };
  return { ...asked, path: `/threads/${threadId}/${kind}`, body: run };
}

/**
 * Kills one agent-api after the other, never both, and starts it again. Returns a function that waits for all to be up
 * and returns the number of kills.
 */
function killNowAndThen(bench: Bench, deployment: BenchDeployment): () => Promise<number> {
  const stopping = new AbortController();
  const random = bench.random.fork('kills');
  let kills = 0;
  const killing = (async () => {
    for (let n = 0; !stopping.signal.aborted; n += 1) {
      // The first falls into the requests however few they are: in the fast tier they take about a second.
      const [least, most] = n === 0 ? [20, 200] : [200, 1_500];
      await pause(random.integer(least, most), undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return;
      const part = deployment.agentApis[n % deployment.agentApis.length]!;
      await part.kill();
      kills += 1;
      await part.start();
    }
  })();
  return async () => {
    stopping.abort();
    await killing;
    return kills;
  };
}

async function wronglyMade({ pool }: BenchDeployment, asked: GoalLimits[]): Promise<string[]> {
  const count = async (text: string) => {
    const { rows } = await pool.query<{ key: string; made: number }>(text);
    return new Map(rows.map(({ key, made }) => [key, made]));
  };
  const by = `SELECT metadata->>'bench_key' AS key, count(*)::int AS made FROM`;
  const [runs, threads] = await Promise.all([count(`${by} run GROUP BY 1`), count(`${by} thread GROUP BY 1`)]);
  return asked.flatMap(({ kind, key }) => {
    const expected = kind === 'batch' ? BATCH : 1;
    const made = (kind === 'thread' ? threads : runs).get(key) ?? 0;
    return made === expected ? [] : [`${kind} ${key} made ${made} instead of ${expected}`];
  });
}

/** Returns the differences: answers with 2xx have to be the same each time, and there has to be one. */
function differing(asked: GoalLimits[]): string[] {
  return asked.flatMap(({ kind, key, calls }) => {
    const answered = calls.filter(({ outcome }) => outcome === 'ok').map(({ body }) => contentOf(body));
    if (answered.length === 0) return [`${kind} ${key} was never answered`];
    const others = answered.filter((each) => each !== answered[0]);
    return others.length === 0 ? [] : [`${kind} ${key}: ${answered[0]} and ${others[0]}`];
  });
}

/** Removes the heartbeats of a stream, which come when nothing else does. */
function contentOf(body: unknown): string {
  if (typeof body !== 'string') return JSON.stringify(body);
  return body.replace(/^: heartbeat\r?\n(\r?\n)?/gm, '');
}

async function runsOnThreads({ pool }: BenchDeployment, asked: GoalLimits[]): Promise<BenchRun[]> {
  const threadIds = asked.filter(({ kind }) => kind.startsWith('runs')).map(({ threadId }) => threadId);
  const { rows } = await pool.query<{ run_id: string; thread_id: string }>(
    'SELECT run_id, thread_id FROM run WHERE thread_id = ANY($1::uuid[])',
    [threadIds],
  );
  return rows.map(({ run_id: runId, thread_id: threadId }) => ({ runId, threadId, steps: STEPS }));
}
