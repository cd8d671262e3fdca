import { waitFor } from '@runyard/test-kit';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Deployment, openDeployment } from './worker-fixture.ts';

const CONNECTIONS = 3;

let deployment: Deployment;
beforeEach(async () => {
  deployment = await openDeployment();
});
afterEach(() => deployment.close());

async function leaseUntil(): Promise<number> {
  const [worker] = await deployment.rows('SELECT lease_until FROM worker');
  return (worker!.lease_until as Date).getTime();
}

function blockedConnections() {
  return deployment.rows(
    `SELECT 1 FROM pg_stat_activity
     WHERE datname = current_database() AND application_name LIKE 'runyard-run-worker %' AND wait_event_type = 'Lock'`,
  );
}

it("runs that wait for a connection longer than the pool's limit are neither given back nor charged", async () => {
  await deployment.startWorker({
    DATABASE_POOL_SIZE: String(CONNECTIONS),
    DATABASE_POOL_TIMEOUT_SECONDS: '0.3',
    // No statement reaches its time limit here.
    WORKER_LEASE_SECONDS: '30',
  });
  const [ledger, gate] = [deployment.file(), deployment.file()];
  const readers = await Promise.all(
    Array.from({ length: 2 * CONNECTIONS }, () =>
      deployment.create('recall', { input: { ledger: ledger.path, gate: gate.path } }),
    ),
  );
  await waitFor(async () => (await ledger.lines()).length === readers.length, { what: 'all runs to be in hand' });
  const slow = await deployment.pool.connect();
  await slow.query('BEGIN; LOCK TABLE store_item IN ACCESS EXCLUSIVE MODE');
  await gate.write('one');
  await waitFor(async () => (await blockedConnections()).length === CONNECTIONS, { what: 'no connection to be free' });
  // The others wait three times as long as the pool's limit.
  await deployment.rows('SELECT pg_sleep(1)');
  await slow.query('COMMIT');
  slow.release();
  for (const run of readers) expect(await deployment.ended(run)).toMatchObject({ status: 'success', attempt: 1 });
});

it('reads of the store that take every connection do not take the lease from the runs beside them', async () => {
  await deployment.startWorker({ DATABASE_POOL_SIZE: String(CONNECTIONS) });
  const [ledger, gate, gateOfReaders] = [deployment.file(), deployment.file(), deployment.file()];
  const bystander = await deployment.create('watchful', { input: { ledger: ledger.path, gate: gate.path } });
  const readers = await Promise.all(
    // Twice as many as there are connections: any other use of them waits for two time limits of statements.
    Array.from({ length: 2 * CONNECTIONS }, () =>
      deployment.create('recall', { input: { ledger: ledger.path, gate: gateOfReaders.path } }),
    ),
  );
  await waitFor(async () => (await ledger.lines()).length === 1 + readers.length, { what: 'all runs to be in hand' });
  const slow = await deployment.pool.connect();
  await slow.query('BEGIN; LOCK TABLE store_item IN ACCESS EXCLUSIVE MODE');
  await gateOfReaders.write('one');
  await waitFor(async () => (await blockedConnections()).length === CONNECTIONS, { what: 'no connection to be free' });
  const before = await leaseUntil();
  await waitFor(async () => (await leaseUntil()) > before + 500, { what: 'a renewal meanwhile' });
  await slow.query('COMMIT');
  slow.release();
  await gate.write('one');
  expect(await deployment.ended(bystander)).toMatchObject({ status: 'success', attempt: 1 });
  for (const run of readers) expect(await deployment.ended(run)).toMatchObject({ status: 'success' });
  expect(await ledger.lines()).not.toContain('told to stop');
});
