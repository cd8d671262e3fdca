import { waitFor } from '@runyard/test-kit';
import type { BenchDeployment } from '../bench/deployment.ts';
import type { Goal } from '../bench/goal.ts';

const LIMIT_SECONDS = 5;
const WORKERS = 4;
const CLIENTS = 20;
/** Runs that wait for a slot, beside those in flight. */
const QUEUED_SHARE = 0.1;
/** A step that waits until it is told to stop. */
const INPUT = { steps: 1, sleepMs: 3_600_000 };
const CREATES_MEANWHILE = 50;
const REASON = 'It mails customers';

export const goal: Goal = {
  id: 'RH',
  title: 'A halt ends all that runs within five seconds, nothing starts until it is lifted, and what waited runs then.',
  async run(bench) {
    const wanted = bench.size({ fast: 1, full: 5 });
    const inFlight = bench.size({ fast: 40, full: 1_000 });
    const env = { N_JOBS_PER_WORKER: String(Math.ceil(inFlight / WORKERS)), BG_JOB_MAX_RETRIES: '100' };
    const deployment = await bench.deployment({ workers: WORKERS, bus: 'redis', isDirect: true, env });
    const rounds: Round[] = [];
    while (rounds.length < wanted) rounds.push(await haltOnce(deployment, inFlight));
    const created = rounds.flatMap((round) => round.created);
    bench.measureNone('runs created while halted', created, wanted * CREATES_MEANWHILE);
    const moved = rounds.filter(({ waiting, stillWaiting }) => waiting !== stillWaiting);
    const found = moved.map(({ waiting, stillWaiting }) => `${stillWaiting} of ${waiting} wait still`);
    bench.measureNone('halts by which waiting runs did not go on waiting', found, wanted);
    bench.measure({
      what: `halted → none of ${inFlight} runs is in flight, max`,
      measured: Math.max(...rounds.map(({ seconds }) => seconds)),
      limit: LIMIT_SECONDS,
      unit: 's',
      samples: rounds.length,
      needed: wanted,
    });
  },
};

interface Round {
  /** From the halt until no run was in flight. */
  seconds: number;
  /** The answers to creates of runs meanwhile that were none of a halted deployment. */
  created: string[];
  waiting: number;
  stillWaiting: number;
}

/** Halts the deployment while runs are in flight and others wait, and resumes it. */
async function haltOnce(deployment: BenchDeployment, inFlight: number): Promise<Round> {
  const { pool } = deployment;
  const count = async (status: string): Promise<number> => {
    const { rows } = await pool.query('SELECT count(*)::int AS count FROM run WHERE status = $1', [status]);
    return rows[0].count;
  };
  const waiting = Math.ceil(inFlight * QUEUED_SHARE);
  await createRuns(deployment, inFlight + waiting);
  await waitFor(async () => (await count('running')) === inFlight, { timeoutMs: 120_000, what: 'runs in every slot' });

  // As the data plane does it.
  await pool.query('UPDATE deployment SET halt_reason = $1, halt_cancels_queued = false, halt_cancelled_runs = 0', [
    REASON,
  ]);
  const since = performance.now();
  const meanwhile = Promise.all(
    Array.from({ length: CREATES_MEANWHILE }, () =>
      deployment.call('POST', '/threads', { body: {} }).then(({ body }) => {
        const path = `/threads/${(body as { thread_id: string }).thread_id}/runs`;
        return deployment.call('POST', path, { body: deployment.ledger.runRequest(INPUT) });
      }),
    ),
  );
  await waitFor(async () => (await count('running')) === 0, { timeoutMs: 60_000, what: 'no run in flight' });
  const seconds = (performance.now() - since) / 1_000;
  const created = (await meanwhile).filter(({ status }) => status !== 503).map(({ status }) => String(status));
  const stillWaiting = await count('pending');

  await pool.query('UPDATE deployment SET halt_reason = NULL');
  await waitFor(async () => (await count('running')) === waiting, { timeoutMs: 60_000, what: 'the waiting runs' });
  await pool.query('UPDATE deployment SET halt_reason = $1, halt_cancels_queued = true', [REASON]);
  await waitFor(async () => (await count('running')) === 0, { timeoutMs: 60_000, what: 'the end of the round' });
  await pool.query('UPDATE deployment SET halt_reason = NULL');
  return { seconds, created, waiting, stillWaiting };
}

/** Creates runs as fast as some clients do together: a storm of them would be refused. */
async function createRuns(deployment: BenchDeployment, count: number): Promise<void> {
  let left = count;
  const client = async () => {
    while (left > 0) {
      left -= 1;
      if (!(await deployment.createRun(INPUT))) left += 1;
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
}
