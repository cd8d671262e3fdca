import { openPool } from '@runyard/database';
import type { Bench } from './bench.ts';
import type { Ledger } from './ledger.ts';
import { Truth } from './truth.ts';

/** Opens the truth in the database of a platform's deployment, bypassing all services. */
export async function platformTruth(
  bench: Bench,
  { deploymentUrl, ledger }: { deploymentUrl: string; ledger: Ledger },
): Promise<Truth> {
  const url = new URL(bench.servers.postgres.address.adminUrl);
  url.pathname = `/runyard_${deploymentUrl.split('/').at(-1)?.replaceAll('-', '')}`;
  const pool = openPool({ connectionString: url.href, max: 2, applicationName: 'fault-bench' });
  bench.onClose(() => pool.end());
  const truth = new Truth(pool, ledger);
  await truth.watchStatuses();
  // The role of the deployment, which fires the triggers, is not the one that created them.
  await pool.query('GRANT ALL ON bench_status_change, bench_status_change_seq_seq TO PUBLIC');
  return truth;
}
