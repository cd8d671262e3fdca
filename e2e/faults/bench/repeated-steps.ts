import type { BenchDeployment, BenchRun } from './deployment.ts';

/** Returns steps that a later attempt executed although an earlier one's checkpoint of them was committed. */
export async function findRepeatedSteps(
  { pool, ledger }: Pick<BenchDeployment, 'pool' | 'ledger'>,
  runs: readonly BenchRun[],
): Promise<string[]> {
  // The input is step -1, and what starts from it is step 0: the graph's step 0 is recorded as step 1.
  const { rows } = await pool.query<{ run_id: string; step: number; attempt: number }>(
    `SELECT run_id, (metadata->>'step')::int - 1 AS step, (metadata->>'run_attempt')::int AS attempt
     FROM checkpoint WHERE run_id = ANY($1::uuid[]) AND checkpoint_ns = ''`,
    [runs.map(({ runId }) => runId)],
  );
  const committedIn = new Map(rows.map(({ run_id, step, attempt }) => [`${run_id} ${step}`, attempt]));
  const begun = (await ledger.entries()).filter(({ what }) => what === 'begun');
  return begun
    .filter(({ run, step, attempt }) => attempt > (committedIn.get(`${run} ${step}`) ?? Number.POSITIVE_INFINITY))
    .map(({ run, step, attempt }) => `attempt ${attempt} of ${run} executed step ${step} again`);
}
