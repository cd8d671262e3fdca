import { freePort, waitFor } from '@runyard/test-kit';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Deployment, openDeployment } from './worker-fixture.ts';

let deployment: Deployment;
beforeEach(async () => {
  deployment = await openDeployment();
});
afterEach(() => deployment.close());

it('a run that takes too long ends in an error', async () => {
  await deployment.startWorker({ BG_JOB_TIMEOUT_SECS: '0.5' });
  const run = await deployment.create('endless');
  const error = { error: 'TimeoutError', message: 'The run took longer than 0.5 seconds.' };
  expect(await deployment.ended(run)).toMatchObject({ status: 'error', error });
});

it('without Redis runs start a little later and end well', async () => {
  await deployment.startWorker({ REDIS_URI: `redis://127.0.0.1:${await freePort()}` });
  const run = await deployment.create('steps');
  expect(await deployment.ended(run)).toMatchObject({ status: 'success' });
});

it('a worker of another revision takes nothing', async () => {
  await deployment.engine.activateRevision('revision-2');
  await deployment.startWorker();
  const run = await deployment.create('echo');
  await deployment.startWorker({ REVISION_ID: 'revision-2' });
  expect(await deployment.ended(run)).toMatchObject({ status: 'success' });
  const workers = await deployment.rows(`SELECT DISTINCT w.revision_id FROM outbox o
    JOIN worker w ON o.event->>'source' = '/runyard/run-worker/' || w.worker_id`);
  expect(workers).toEqual([{ revision_id: 'revision-2' }]);
});

it('workers share many runs, each executed once', async () => {
  await Promise.all(Array.from({ length: 2 }, () => deployment.startWorker({ N_JOBS_PER_WORKER: '5' })));
  const [ledger, gate] = [deployment.file(), deployment.file()];
  const input = { ledger: ledger.path, gate: gate.path };
  const runs = await Promise.all(Array.from({ length: 60 }, () => deployment.create('echo', { input })));
  // One worker has no room for so many.
  await waitFor(async () => (await ledger.lines()).length === 10, { what: 'the slots of both workers to be taken' });
  await gate.write('one');
  const ended = await Promise.all(runs.map((run) => deployment.ended(run)));
  expect(ended.every(({ status, attempt }) => status === 'success' && attempt === 1)).toBe(true);
  expect(await ledger.lines()).toHaveLength(60);
});
