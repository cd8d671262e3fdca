/**
 * Measures how long searches take in a journal of many runs: `npx tsx services/run-history/bench/search-cost.ts [runs]`,
 * with RUNYARD_TEST_POSTGRES_URL set. The default is a million; the promise is a first page within 100 ms at p95 with ten
 * millions. Figures are milliseconds, p50 and p95 of 21 searches.
 */
import { fileURLToPath } from 'node:url';
import type { RunFilters } from '@runyard/contracts';
import { openPool, withTransaction } from '@runyard/database';
import { createTestDatabase, percentile } from '@runyard/test-kit';
import { createPartitions, weekOf } from '../src/journal/partitions.ts';
import { RunSearch } from '../src/search/run-search.ts';
import { readStatistics } from '../src/statistics/read-statistics.ts';

const runs = Number(process.argv[2] ?? 1_000_000);
const DAYS = 20;
const DAY_MS = 86_400_000;
const SEARCHES = 21;
const organizationId = '11111111-0000-4000-8000-000000000001';
const workspaceId = '22222222-0000-4000-8000-000000000001';
const uuidOf = (sql: string) => `lpad(to_hex((${sql})::bigint), 32, '0')::uuid`;

const migrations = fileURLToPath(new URL('../prisma/migrations', import.meta.url));
const database = await createTestDatabase(migrations);
const pool = openPool({ connectionString: database.url, max: 4, applicationName: 'bench' });
const search = new RunSearch({ pool, retentionDays: 30 });
const scope = { organizationId, workspaceId, deploymentIds: undefined };
await fill();

const since = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();
const searches: Record<string, RunFilters> = {
  'no filter': {},
  'one deployment': { deployment_ids: ['00000000-0000-0000-0000-000000000003'] },
  'one of 1,000 assistants': { assistant_ids: ['00000000-0000-0000-0000-000000000007'] },
  'status error (1 in 50)': { statuses: ['error'] },
  'status timeout (1 in 100,000)': { statuses: ['timeout'] },
  'metadata of half of them': { metadata: { half: 1 } },
  'metadata of 1 in 10,000': { metadata: { customer: 77 } },
  'metadata of one run': { metadata: { order: 12_345 } },
  'metadata of none': { metadata: { order: -1 } },
  'a common word of errors': { error: 'customer' },
  'a rare word of errors': { error: 'e350' },
  'a thread': { thread_ids: ['00000000-0000-0000-0000-0000000003e8'] },
  'graph and duration (1 in 200)': { graph_ids: ['agent'], min_duration_ms: 199 },
  'errors of one deployment, which has none': {
    deployment_ids: ['00000000-0000-0000-0000-000000000003'],
    statuses: ['error'],
  },
  'metadata without a value': { metadata: { half: {} } },
  'a duration that none has': { min_duration_ms: 10_000_000 },
  'ten days ago': { created_before: since(10) },
  'several deployments and statuses': {
    deployment_ids: ['00000000-0000-0000-0000-000000000003', '00000000-0000-0000-0000-000000000004'],
    statuses: ['error', 'timeout'],
  },
};
for (const [name, filters] of Object.entries(searches)) {
  let found = '';
  await report(name, async () => {
    const page = await search.search(scope, { ...filters, limit: 20 });
    found = `${page.runs.length} runs${page.next_cursor === null ? '' : ', and more'}`;
  });
  console.log(`      ${found}`);
}
await report('facets', () => search.countFacets(scope, {}));
await report('facets of errors', () => search.countFacets(scope, { statuses: ['error'] }));
await report('statistics of a day by minute', () =>
  readStatistics(pool, scope, { start_time: since(1), step: 'minute' }),
);
await report('statistics of 20 days', () => readStatistics(pool, scope, { start_time: since(DAYS), step: 'day' }));
await pool.end();
await database.close();

/** Fills the tables as runs would have, without indexes first: that is faster by far. */
async function fill(): Promise<void> {
  const begun = performance.now();
  const days = Array.from({ length: DAYS + 1 }, (_, ago) => weekOf(Date.now() - ago * DAY_MS));
  await withTransaction(pool, (client) => createPartitions(client, new Set(days)));
  await pool.query(`INSERT INTO deployment SELECT ${uuidOf('n')}, $1, $2 FROM generate_series(0, 9) n`, [
    organizationId,
    workspaceId,
  ]);
  const { rows: indexes } = await pool.query<{ name: string; definition: string }>(
    `SELECT indexname AS name, indexdef AS definition FROM pg_indexes WHERE tablename = 'run' AND indexname <> 'run_pkey'`,
  );
  for (const { name } of indexes) await pool.query(`DROP INDEX ${name}`);
  const stepMs = (DAYS * DAY_MS) / runs;
  const chunk = 250_000;
  for (let from = 0; from < runs; from += chunk) {
    await pool.query(
      `INSERT INTO run
         SELECT (lpad(to_hex(at), 12, '0') || '7000' || '8000' || lpad(to_hex(n), 12, '0'))::uuid, $1, ${uuidOf('n % 10')},
           ${uuidOf('n / 5')}, ${uuidOf('n % 1000')}, CASE WHEN n % 3 = 0 THEN 'other' ELSE 'agent' END,
           ${uuidOf('n / 100000')}, NULL,
           CASE WHEN n % 100000 = 0 THEN 'timeout' WHEN n % 50 = 0 THEN 'error' ELSE 'success' END, 1,
           to_timestamp(at / 1000.0), to_timestamp(at / 1000.0), to_timestamp(at / 1000.0), 5, n % 200,
           CASE WHEN n % 50 = 0 THEN 'ValueError' END,
           CASE WHEN n % 50 = 0 THEN 'no such customer e' || n END, NULL,
           jsonb_build_object('half', n % 2, 'customer', n % 10000, 'order', n), 'service_key', 'user-' || n % 5000, 'key'
         FROM (SELECT n, ($2 + n * $3::float8)::bigint AS at FROM generate_series($4::bigint, $5::bigint) n) AS made`,
      [workspaceId, Date.now() - DAYS * DAY_MS, stepMs, from, Math.min(from + chunk, runs) - 1],
    );
  }
  for (const { definition } of indexes) await pool.query(definition.replace(' ON ONLY ', ' ON '));
  await pool.query(
    `INSERT INTO run_statistic SELECT deployment_id, step, date_trunc(step, created_at), graph_id, count(*), 0, 0, 0, 0, 0
     FROM run, (VALUES ('minute'), ('day')) AS steps (step) WHERE step = 'day' OR created_at > now() - interval '2 days'
     GROUP BY 1, 2, 3, 4`,
  );
  await pool.query('ANALYZE');
  const { rows } = await pool.query<{ size: string }>(
    `SELECT pg_size_pretty(pg_database_size(current_database())) AS size`,
  );
  console.log(
    `${runs.toLocaleString('en')} runs, ${rows[0]!.size}, filled in ${((performance.now() - begun) / 1000).toFixed(0)} s`,
  );
}

async function report(name: string, work: () => Promise<unknown>): Promise<void> {
  const times: number[] = [];
  for (let index = 0; index < SEARCHES; index += 1) {
    const begun = performance.now();
    await work();
    times.push(performance.now() - begun);
  }
  const [p50, p95] = [0.5, 0.95].map((share) => percentile(times, share).toFixed(1));
  console.log(`${p50!.padStart(8)} ${p95!.padStart(8)}  ${name}`);
}
