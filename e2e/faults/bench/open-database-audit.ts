import { openPool } from '@runyard/database';
import type { Bench } from './bench.ts';
import { DatabaseAudit } from './database-audit.ts';
import type { Ledger } from './ledger.ts';

/** Opens the audit of the database of a platform's deployment, bypassing all services. */
export async function openDatabaseAudit(
  bench: Bench,
  { deploymentUrl, ledger }: { deploymentUrl: string; ledger: Ledger },
): Promise<DatabaseAudit> {
  const url = new URL(bench.servers.postgres.address.adminUrl);
  url.pathname = `/runyard_${deploymentUrl.split('/').at(-1)?.replaceAll('-', '')}`;
  const pool = openPool({ connectionString: url.href, max: 2, applicationName: 'fault-bench' });
  bench.onClose(() => pool.end());
  const audit = new DatabaseAudit(pool, ledger);
  await audit.watchStatuses();
  // The role of the deployment, which fires the triggers, is not the one that created them.
  await pool.query('GRANT ALL ON bench_status_change, bench_status_change_seq_seq TO PUBLIC');
  return audit;
}
