import { setTimeout as pause } from 'node:timers/promises';
import { waitFor } from '@runyard/test-kit';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Deployment, openDeployment } from './worker-fixture.ts';

let deployment: Deployment;
beforeEach(async () => {
  deployment = await openDeployment();
});
afterEach(() => deployment.close());

/** Starts a worker on fault lines of its own, with a run that waits at its gate. */
async function workerWithRun() {
  const lines = await deployment.lines();
  await deployment.startWorker({ DATABASE_URI: lines.DATABASE_URI.url, REDIS_URI: lines.REDIS_URI.url });
  const [ledger, gate] = [deployment.file(), deployment.file()];
  const run = await deployment.create('watchful', { input: { ledger: ledger.path, gate: gate.path }, resumable: true });
  await waitFor(async () => (await ledger.lines()).length === 1, { what: 'the first attempt' });
  return { lines, run, ledger, gate };
}

it('a worker cut off from Postgres alone stops its runs when its lease has ended, and takes others when it is back', async () => {
  const { lines, run, ledger, gate } = await workerWithRun();
  lines.DATABASE_URI.partition();
  await waitFor(async () => (await ledger.lines()).includes('told to stop'), { what: 'the run to be stopped' });
  await deployment.startWorkerProcess();
  await waitFor(async () => (await ledger.lines()).filter((line) => line === 'one').length === 2, {
    what: 'the second attempt',
  });
  lines.DATABASE_URI.heal();
  await gate.write('one');
  expect(await deployment.ended(run)).toMatchObject({ status: 'success', attempt: 2 });
  expect(await ledger.lines()).toEqual(['one', 'told to stop', 'one']);
  const { threadId } = run;
  expect(
    await deployment.rows("SELECT count(*)::int AS ends FROM outbox WHERE key = $1 AND event->>'type' = $2", [
      threadId,
      'runyard.run.finished',
    ]),
  ).toEqual([{ ends: 1 }]);
  await waitFor(async () => (await deployment.rows('SELECT 1 FROM worker WHERE lease_until > now()')).length === 2, {
    what: 'the first worker to be back',
  });
});

it('a worker cut off from Redis alone ends its runs, takes others, and publishes their ends when it is back', async () => {
  const { lines, run, gate } = await workerWithRun();
  lines.REDIS_URI.partition();
  await gate.write('one');
  expect(await deployment.ended(run)).toMatchObject({ status: 'success', attempt: 1 });
  const next = await deployment.create('echo');
  expect(await deployment.ended(next)).toMatchObject({ status: 'success', attempt: 1 });
  lines.REDIS_URI.heal();
  expect(await deployment.ended(await deployment.create('echo'))).toMatchObject({ status: 'success' });
  for (const each of [run, next]) expect((await deployment.events(each)).at(-1)).toMatchObject({ kind: 'run.end' });
});

it('a run continues through an outage of Postgres shorter than the lease: its writes wait', async () => {
  const { lines, run, gate } = await workerWithRun();
  await lines.DATABASE_URI.refuse();
  await gate.write('one');
  await pause(500);
  await lines.DATABASE_URI.heal();
  expect(await deployment.ended(run)).toMatchObject({ status: 'success', attempt: 1 });
});

it('an outage longer than the lease counts against no run: it is dropped, and continues when Postgres is back', async () => {
  const { lines, run, ledger, gate } = await workerWithRun();
  await lines.DATABASE_URI.refuse();
  await waitFor(async () => (await ledger.lines()).includes('told to stop'), { what: 'the run to be stopped' });
  await lines.DATABASE_URI.heal();
  await gate.write('one');
  const ended = await deployment.ended(run);
  expect(ended.status).toBe('success');
  // On a busy machine a lease of two seconds may end once more, which counts against the run as little.
  expect(ended.attempt).toBeGreaterThan(1);
  expect(await deployment.rows('SELECT failures, is_suspect FROM run')).toEqual([{ failures: 0, is_suspect: false }]);
});
