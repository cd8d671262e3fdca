import { withDatabaseClient } from '@runyard/test-kit';
import {
  type DeploymentOptions,
  type DeploymentProcesses,
  openDeployment,
  startProcesses,
  type TestDeployment,
} from './deployment.ts';

/** Unused deployments stop after this time, so that they take nothing from the tests of other services. */
const IDLE_MS = 60_000;
/** The rows that running processes renew themselves. */
const RENEWED_TABLES = ['api_server', 'duty', 'worker'];
/** The timers of a test that moves its clock are none for a deployment that outlives it. */
const { setTimeout, clearTimeout } = globalThis;

interface KeptDeployment {
  processes: DeploymentProcesses;
  idle?: NodeJS.Timeout;
}
const unused = new Map<string, KeptDeployment>();

/**
 * Returns a deployment like that of `startDeployment`, which the test files of this process use one after the other:
 * `close` empties it. Whoever stops a process, or looks at counters from their beginning, starts one of their own.
 */
export async function shareDeployment(options: DeploymentOptions = {}): Promise<TestDeployment> {
  const key = JSON.stringify(options);
  const kept = unused.get(key) ?? { processes: await startEmptied(options) };
  unused.delete(key);
  clearTimeout(kept.idle);
  return openDeployment(kept.processes, async () => {
    await empty(kept.processes);
    kept.idle = setTimeout(() => {
      unused.delete(key);
      void kept.processes.close();
    }, IDLE_MS).unref();
    unused.set(key, kept);
  });
}

/** Starts processes, and keeps the rows that they begin with beside the tables. */
async function startEmptied(options: DeploymentOptions): Promise<DeploymentProcesses> {
  const processes = await startProcesses(options);
  await onTables(processes, (tables) => [
    'CREATE SCHEMA beginning',
    ...tables.map((table) => `CREATE TABLE beginning.${table} AS TABLE public.${table}`),
  ]);
  return processes;
}

/** Leaves the rows and keys that the processes began with. */
async function empty(processes: DeploymentProcesses): Promise<void> {
  await onTables(processes, (tables) => [
    // Rows go and come whole: neither triggers nor references have a say.
    'SET LOCAL session_replication_role = replica',
    ...tables.map((table) => `DELETE FROM public.${table}`),
    ...tables.map((table) => `INSERT INTO public.${table} OVERRIDING SYSTEM VALUE TABLE beginning.${table}`),
  ]);
  await processes.redis.close();
}

/** Executes statements in one transaction, but for the tables that processes renew. */
function onTables(processes: DeploymentProcesses, statementsFor: (tables: string[]) => string[]): Promise<void> {
  return withDatabaseClient(processes.database.url, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> ALL ($1)`,
      [RENEWED_TABLES],
    );
    await client.query(statementsFor(rows.map(({ name }) => name)).join(';'));
  });
}
