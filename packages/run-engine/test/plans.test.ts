import { randomUUID } from 'node:crypto';
import { openPool } from '@runyard/database';
import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RunEngine } from '../src/engine.ts';
import { aRun, type EngineFixture, openEngine, success } from './engine-fixture.ts';

/** Makes the planner take indexes, as it does in a deployment that has run for a day. */
const ENDED = 20_000;

let fixture: EngineFixture;
/** Ends runs on one connection, whose plans can be looked at. */
let ending: { pool: pg.Pool; engine: RunEngine };
let worker: string;
beforeAll(async () => {
  fixture = await openEngine();
  const { connectionString } = fixture.pool.options;
  const pool = openPool({ connectionString: connectionString!, max: 1, applicationName: 'plans-test' });
  ending = { pool, engine: new RunEngine({ pool, deploymentId: 'test', source: '/test', leaseMs: 120_000 }) };
  worker = await fixture.worker();
});
afterAll(async () => {
  await ending.engine.close();
  await ending.pool.end();
  await fixture.close();
});

const rows = async (text: string, values: unknown[] = []) => (await ending.pool.query(text, values)).rows;
async function endRun({ isRolledBack = false } = {}): Promise<void> {
  const threadId = await fixture.thread();
  const { run } = await fixture.engine.createRun(aRun({ threadId, webhooks: [{ url: 'http://a', host: 'a' }] }));
  const [claimed] = await fixture.engine.claimRuns(worker, 1);
  if (isRolledBack) {
    const selection = { threadId, runIds: [run.runId] };
    await fixture.engine.requestCancel(selection, 'rollback', 'test');
  }
  await ending.engine.finishRun(success(claimed!));
}

it('the statements of the end of a run are planned once, not at each end', async () => {
  for (let count = 0; count < 7; count += 1) await endRun();
  const plans = await rows(
    `SELECT name, custom_plans::int AS custom, generic_plans::int AS generic FROM pg_prepared_statements
     WHERE name IN ('engine_lock_unheld_threads', 'engine_lock_owned_runs', 'engine_end_runs') ORDER BY name`,
  );
  expect(plans).toEqual([
    { name: 'engine_end_runs', custom: 0, generic: 7 },
    { name: 'engine_lock_owned_runs', custom: 0, generic: 7 },
    { name: 'engine_lock_unheld_threads', custom: 0, generic: 7 },
  ]);
});

it('no statement that ends runs walks the queue, when its plan is of a moment in which no run was in flight', async () => {
  await endRun();
  await endRun({ isRolledBack: true });
  await rows(
    `INSERT INTO run (run_id, thread_id, assistant_id, metadata, kwargs, multitask_strategy, keeps_thread, status, ended_at)
     SELECT gen_random_uuid(), gen_random_uuid(), $1, '{}', '{}', 'enqueue', true, 'success', now()
     FROM generate_series(1, ${ENDED})`,
    [randomUUID()],
  );
  await rows('ANALYZE');
  await rows('DISCARD PLANS');
  const statements = await rows(
    `SELECT name, cardinality(parameter_types) AS parameters FROM pg_prepared_statements WHERE name LIKE 'engine_%'`,
  );
  expect(statements.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['engine_end_runs', 'engine_queue_webhooks', 'engine_delete_runs']),
  );
  const walks: string[] = [];
  await rows('SET plan_cache_mode = force_generic_plan');
  for (const { name, parameters } of statements) {
    const values = parameters === 0 ? '' : `(${Array.from({ length: parameters }, () => 'NULL').join(', ')})`;
    const [{ 'QUERY PLAN': plan }] = await rows(`EXPLAIN (FORMAT JSON) EXECUTE "${name}" ${values}`);
    for (const node of nodesOf(plan[0].Plan)) {
      if (node['Relation Name'] === 'run' && !isById(node)) walks.push(`${name}: ${JSON.stringify(node)}`);
    }
  }
  expect(walks).toEqual([]);
});

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Cond'?: string;
  'Recheck Cond'?: string;
  Plans?: PlanNode[];
}

function nodesOf(plan: PlanNode): PlanNode[] {
  const { Plans = [], ...node } = plan;
  return [node, ...Plans.flatMap(nodesOf)];
}

function isById(node: PlanNode): boolean {
  return (
    node['Node Type'] === 'ModifyTable' ||
    /\b(run_id|thread_id) = /.test(node['Index Cond'] ?? node['Recheck Cond'] ?? '')
  );
}
