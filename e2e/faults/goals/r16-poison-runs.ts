import { percentile, waitFor } from '@runyard/test-kit';
import type { Bench } from '../bench/bench.ts';
import type { BenchDeployment, BenchRun } from '../bench/deployment.ts';
import type { Goal } from '../bench/goal.ts';
import { measureRuns } from '../bench/outage-checks.ts';

const SILENT_SECONDS = 5;
const HUGE_BYTES = 24 * 1024 * 1024;
/** The message of a run whose attempts are used up. */
const GIVEN_UP = 'after 3 failed attempts';
const WAIT = { timeoutMs: 180_000, intervalMs: 200 };

/**
 * The end of each: its error name, and the number of attempts. An error with two names has the last word of the message
 * as its second.
 */
const POISONS = [
  { how: 'exit', error: 'ProcessExitError' },
  // An event loop of Python logs such an error and goes on.
  { how: 'throw', error: 'UncaughtExceptionError', inPython: null },
  { how: 'crash', error: 'RunAttemptsExhausted', last: 'GraphHostLost' },
  { how: 'oom', error: 'RunAttemptsExhausted', last: 'GraphHostOutOfMemory' },
  { how: 'loop', error: 'RunAttemptsExhausted', last: 'GraphHostUnresponsive' },
  // A worker survives these: they harm nobody and end well.
  { how: 'huge', error: null },
  { how: 'flood', error: null },
] as const;

type Poison = (typeof POISONS)[number];

export const goal: Goal = {
  id: 'R16',
  title:
    'A run that harms its process fails alone and by name; what runs beside it ends well, and the worker is soon back.',
  pythonTier: 'full',
  async run(bench) {
    const deployment = await bench.deployment({
      env: { GRAPH_HOST_SILENT_SECONDS: String(SILENT_SECONDS), GRAPH_HOST_HEAP_MB: '256' },
    });
    const bystanders: BenchRun[] = [];
    const create = async (input: { steps: number; sleepMs?: number }) => {
      const run = await deployment.createRun(input);
      if (run) bystanders.push(run);
      return run;
    };
    const waits: number[] = [];
    const poisons = bench.random.shuffle(
      POISONS.flatMap((poison) => Array<Poison>(bench.size({ fast: 1, full: 3 })).fill(poison)),
    );
    const ended: { poison: Poison; runId: string }[] = [];
    for (const poison of poisons) {
      // These run beside it, in the same process if possible.
      await Promise.all([1, 2].map(() => create({ steps: 6, sleepMs: 300 })));
      const runId = await poisonRun(deployment, poison);
      ended.push({ poison, runId });
      await waitUntilHarmed(deployment, runId);
      const begun = Date.now();
      const next = await create({ steps: 1 });
      if (next) {
        const waitedMs = (await firstStepOf(deployment, next.runId)) - begun;
        waits.push(waitedMs);
        bench.log(`after ${poison.how} the next run began within ${waitedMs} ms`);
      }
      // Harms come one at a time: with several, runs that were beside one wait for their isolated host behind those
      // beside others.
      await deployment.audit.untilAllEnded(WAIT.timeoutMs);
    }
    await measureRuns(bench, deployment, bystanders);
    await measurePoisons(bench, deployment, ended);
    const samples = waits.length;
    const seconds = (q: number) => percentile(waits, q) / 1_000;
    bench.log(`the worker takes the next run after ${seconds(0.5).toFixed(2)} s at the median`);
    bench.measure({
      what: 'harm → next run begun, max',
      measured: seconds(1),
      limit: 5,
      unit: 's',
      samples,
      needed: poisons.length,
    });
  },
};

async function poisonRun(deployment: BenchDeployment, { how }: Poison): Promise<string> {
  const body = { assistant_id: 'poison', input: { how, bytes: HUGE_BYTES } };
  const { body: run, outcome } = await deployment.call('POST', '/runs', { body });
  if (outcome !== 'ok') throw new Error(`the ${how} run was not accepted`);
  return (run as { run_id: string }).run_id;
}

/** Waits until it has been claimed, so that the worker is affected from now on. */
async function waitUntilHarmed(deployment: BenchDeployment, runId: string): Promise<void> {
  await waitFor(
    async () =>
      (await deployment.audit.statusChanges()).some((change) => change.runId === runId && change.to === 'running'),
    { ...WAIT, what: 'the poison to be taken' },
  );
}

async function firstStepOf(deployment: BenchDeployment, runId: string): Promise<number> {
  const [first] = await waitFor(
    async () => {
      const entries = (await deployment.ledger.byRun()).get(runId);
      return entries && entries.length > 0 ? entries : undefined;
    },
    { ...WAIT, what: 'the next run to begin' },
  );
  return first!.at;
}

async function measurePoisons(
  bench: Bench,
  deployment: BenchDeployment,
  ended: { poison: Poison; runId: string }[],
): Promise<void> {
  const { rows } = await deployment.pool.query<{
    run_id: string;
    status: string;
    error: { error: string; message: string } | null;
  }>('SELECT run_id, status, error FROM run WHERE run_id = ANY($1::uuid[])', [ended.map(({ runId }) => runId)]);
  const wrong = ended.flatMap(({ poison, runId }) => {
    const run = rows.find(({ run_id }) => run_id === runId);
    const { how } = poison;
    const error = bench.project.language === 'python' && 'inPython' in poison ? poison.inPython : poison.error;
    const last = 'last' in poison ? poison.last : '';
    const isRight = error === null ? run?.status === 'success' : run?.status === 'error' && run.error?.error === error;
    const says = run?.error?.message ?? '';
    if (isRight && says.includes(last) && (last === '' || says.includes(GIVEN_UP))) return [];
    return [`${how}: ${run?.status} ${run?.error?.error}: ${says.slice(0, 300)}`];
  });
  bench.measureNone(
    'poison runs that did not end by their name and as often tried as they may be',
    wrong,
    ended.length,
  );
  const { rows: attempts } = await deployment.pool.query<{ most: number }>('SELECT max(failures) AS most FROM run');
  bench.measure({
    what: 'attempts charged to one run, max',
    measured: attempts[0]!.most,
    limit: 3,
    unit: '',
    samples: ended.length,
  });
}
