import { groupAttempts } from './attempts.ts';
import type { BenchDeployment } from './deployment.ts';

/**
 * Returns, for each of these threads that has something wrong, what its runs did: their status, how long they took, and
 * the steps of the ledger graph that each attempt executed.
 */
export async function describeThreads(
  { pool, ledger }: Pick<BenchDeployment, 'pool' | 'ledger'>,
  threadIds: readonly string[],
): Promise<Map<string, string>> {
  if (threadIds.length === 0) return new Map();
  const { rows } = await pool.query<{ thread_id: string; run_id: string; status: string; seconds: number }>(
    `SELECT thread_id, run_id, status, extract(epoch FROM updated_at - created_at)::float8 AS seconds
     FROM run WHERE thread_id = ANY($1::uuid[]) ORDER BY seq`,
    [threadIds],
  );
  const attempts = groupAttempts(await ledger.byRun());
  const described = new Map<string, string>();
  for (const { thread_id, run_id, status, seconds } of rows) {
    const steps = attempts.get(run_id)?.map((each) => `attempt ${each.attempt}: steps ${each.steps.join(' ')}`) ?? [];
    const run = `${status} after ${seconds.toFixed(1)} s (${steps.join(', ')})`;
    described.set(thread_id, [described.get(thread_id), run].filter(Boolean).join('; '));
  }
  return described;
}
