/**
 * Measures what the journal costs for each run: `npx tsx services/run-history/bench/journal-cost.ts [runs] [batch]
 * [deployments]`, with RUNYARD_TEST_POSTGRES_URL set. Each run has three events; a batch has 500 at most, and small ones
 * are what a platform with little to do has. Runs take turns among the deployments.
 */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { openPool } from '@runyard/database';
import { Metrics, silentLogger } from '@runyard/service-kit';
import { createTestDatabase } from '@runyard/test-kit';
import { v7 as uuidv7 } from 'uuid';
import { Journal } from '../src/journal/journal.ts';
import { successOf, type ToldRun } from '../test/support/history.ts';

const runs = Number(process.argv[2] ?? 10_000);
const batch = Number(process.argv[3] ?? 500);
const deploymentIds = Array.from({ length: Number(process.argv[4] ?? 1) }, () => randomUUID());
const workspaceId = randomUUID();
const database = await createTestDatabase(fileURLToPath(new URL('../prisma/migrations', import.meta.url)));
const pool = openPool({ connectionString: database.url, max: 4, applicationName: 'bench' });
const workspaces = new Map(deploymentIds.map((id) => [id, workspaceId]));
// Events of deployments without a row are left out.
await pool.query(
  'INSERT INTO deployment (deployment_id, organization_id, workspace_id) SELECT unnest($1::uuid[]), $2, $3',
  [deploymentIds, randomUUID(), workspaceId],
);
const journal = new Journal({
  onUsedUp: () => undefined,
  pool,
  deployments: { findWorkspaces: async () => workspaces },
  retentionDays: 30,
  logger: silentLogger,
  metrics: new Metrics(),
});
const assistantId = randomUUID();
const events = Array.from({ length: runs }).flatMap((_, index) => {
  const deploymentId = deploymentIds[index % deploymentIds.length]!;
  const run: ToldRun = { deploymentId, runId: uuidv7(), threadId: uuidv7(), assistantId };
  return successOf(run, { metadata: { customer: 'c-42', plan: { name: 'gold' } } });
});
const [begun, used] = [performance.now(), process.cpuUsage()];
for (let start = 0; start < events.length; start += batch) await journal.apply(events.slice(start, start + batch));
const { user, system } = process.cpuUsage(used);
const elapsed = performance.now() - begun;
console.log(
  `${((runs / elapsed) * 1000).toFixed(0)} runs/s, ${((user + system) / 1000 / runs).toFixed(3)} processor ms a run here`,
);
console.log(`${(elapsed / runs).toFixed(3)} ms a run in all, Postgres included`);
await pool.end();
await database.close();
