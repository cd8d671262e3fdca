import { waitFor } from '@runyard/test-kit';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Deployment, openDeployment } from './worker-fixture.ts';

let deployment: Deployment;
beforeEach(async () => {
  deployment = await openDeployment();
});
afterEach(() => deployment.close());

const json = (bytes: unknown) => JSON.parse((bytes as Buffer).toString());

/** Starts a run of `steps` that waits in its second step, with the first one's checkpoint written. */
async function runInSecondStep() {
  const [ledger, gate] = [deployment.file(), deployment.file()];
  await gate.write('one');
  const run = await deployment.create('steps', {
    input: { ledger: ledger.path, gate: gate.path },
    durability: 'sync',
    resumable: true,
  });
  await waitFor(async () => (await ledger.lines()).includes('two'), { what: 'the second step' });
  return { run, ledger, openGate: () => gate.write('one two three') };
}

it('a killed worker’s run continues from its last checkpoint on another one', async () => {
  const first = await deployment.startWorkerProcess();
  const { run, ledger, openGate } = await runInSecondStep();
  await deployment.startWorker();
  await first.stop({ signal: 'SIGKILL' });
  await waitFor(async () => (await ledger.lines()).filter((line) => line === 'two').length === 2, {
    what: 'the second attempt',
  });
  await openGate();
  expect(await deployment.ended(run)).toMatchObject({ status: 'success', attempt: 2 });
  expect(await ledger.lines()).toEqual(['one', 'two', 'two', 'three']);
  expect(json((await deployment.ended(run)).result).log).toEqual(['one', 'two', 'three']);
  const metadata = (await deployment.events(run)).filter(({ kind }) => kind === 'metadata');
  expect(metadata.map(({ data }) => JSON.parse(data).attempt)).toEqual([1, 2]);
});

it('a worker that was suspended for longer than its lease writes nothing more when it wakes up', async () => {
  const first = await deployment.startWorkerProcess();
  const { run, ledger, openGate } = await runInSecondStep();
  await deployment.startWorker();
  process.kill(first.pid, 'SIGSTOP');
  await waitFor(async () => (await ledger.lines()).filter((line) => line === 'two').length === 2, {
    what: 'the second attempt',
  });
  // Its graph host is not suspended: it runs on while nobody takes its writes.
  await openGate();
  expect(await deployment.ended(run)).toMatchObject({ status: 'success', attempt: 2 });
  process.kill(first.pid, 'SIGCONT');
  await waitFor(() => /lease|taken over|lost/.test(first.output()), { what: 'the old worker to notice' });
  const metrics = await (await fetch(`${first.url}/metrics`)).text();
  expect(metrics).toMatch(/lg_api_worker_lease_losses_total\S* 1\n/);
  const refused = [...metrics.matchAll(/lg_api_stale_writes_refused_total\S*kind="(\w+)"\S* (\d+)/g)];
  expect(refused.map(([, kind]) => kind).sort()).toEqual(['checkpoint', 'event', 'status', 'store']);
  expect(json((await deployment.ended(run)).result).log).toEqual(['one', 'two', 'three']);
  const late = (await deployment.events(run)).filter(({ attempt, kind }) => attempt === 1 && kind === 'values');
  expect(late.every(({ data }) => !data.includes('three'))).toBe(true);
  const next = await deployment.create('echo', { threadId: run.threadId, input: { gate: '' } });
  expect(json((await deployment.ended(next)).result).log).toEqual(['one', 'two', 'three', 'one']);
});

it('a stopping worker hands its run back in time, and another one continues at once', async () => {
  const first = await deployment.startWorkerProcess({
    BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: '0',
    WORKER_LEASE_SECONDS: '60',
  });
  const { run, ledger, openGate } = await runInSecondStep();
  await deployment.startWorker({ WORKER_LEASE_SECONDS: '60' });
  expect(await first.stop()).toEqual({ code: 0, signal: null });
  await waitFor(async () => (await ledger.lines()).filter((line) => line === 'two').length === 2, {
    what: 'the second attempt',
  });
  await openGate();
  expect(await deployment.ended(run)).toMatchObject({ status: 'success', attempt: 2 });
  const [{ failures }] = (await deployment.rows('SELECT failures FROM run')) as [{ failures: number }];
  expect(failures).toBe(0);
});

it('a stopping worker lets its run end within the grace period and takes no other', async () => {
  const worker = await deployment.startWorkerProcess({ BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: '20' });
  const { run, openGate } = await runInSecondStep();
  const stopping = worker.stop({ graceMs: 25_000 });
  await waitFor(async () => (await deployment.rows('SELECT 1 FROM worker WHERE is_draining')).length > 0);
  const late = await deployment.create('echo');
  await openGate();
  expect(await stopping).toEqual({ code: 0, signal: null });
  expect(await deployment.ended(run)).toMatchObject({ status: 'success', attempt: 1 });
  expect(await deployment.engine.getRun(late.threadId, late.runId)).toMatchObject({ status: 'pending' });
});

it('a run that crashes its host every time is given up with a named error, and the worker continues', async () => {
  await deployment.startWorker();
  const ledger = deployment.file();
  const run = await deployment.create('poison', { input: { ledger: ledger.path } });
  const ended = await deployment.ended(run);
  expect(ended).toMatchObject({ status: 'error', error: { error: 'RunAttemptsExhausted' } });
  expect(await ledger.lines()).toEqual(['poison', 'poison', 'poison']);
  const events = await deployment.events(run);
  expect(events.map(({ kind }) => kind).slice(-2)).toEqual(['error', 'run.end']);
  expect(await deployment.ended(await deployment.create('echo'))).toMatchObject({ status: 'success' });
});

it('a run that blocks its host is given up by name, and others are executed meanwhile', async () => {
  await deployment.startWorker({ BG_JOB_MAX_RETRIES: '1', GRAPH_HOST_SILENT_SECONDS: '12' });
  const ledger = deployment.file();
  const run = await deployment.create('loop', { input: { ledger: ledger.path } });
  await waitFor(async () => (await ledger.lines()).length === 1, { what: 'the host to be blocked' });
  const other = await deployment.ended(await deployment.create('echo'));
  expect(other).toMatchObject({ status: 'success' });
  // The blocked host may have got it, and did not begin it.
  const [charged] = await deployment.rows('SELECT failures, is_suspect FROM run WHERE run_id = $1', [other.runId]);
  expect(charged).toEqual({ failures: 0, is_suspect: false });
  expect(await deployment.engine.getRun(run.threadId, run.runId)).toMatchObject({ status: 'running', attempt: 1 });
  const message = expect.stringMatching(
    /the last: GraphHostUnresponsive: the graph host did not answer and was killed$/,
  );
  expect(await deployment.ended(run)).toMatchObject({
    status: 'error',
    attempt: 1,
    error: { error: 'RunAttemptsExhausted', message },
  });
});

it('runs that shared a host with one that crashes it resume and end well', async () => {
  // One failed attempt would end them: they are charged with none.
  await deployment.startWorker({ BG_JOB_MAX_RETRIES: '1' });
  const gate = deployment.file();
  const ledger = deployment.file();
  const innocents = await Promise.all(
    Array.from({ length: 3 }, () => deployment.create('steps', { input: { gate: gate.path, ledger: ledger.path } })),
  );
  await waitFor(async () => (await ledger.lines()).length === 3, { what: 'the others to run' });
  const poison = await deployment.create('poison', { input: { ledger: ledger.path } });
  await waitFor(async () => (await ledger.lines()).includes('poison'), { what: 'the host to be taken down' });
  await gate.write('one two three');
  expect(await deployment.ended(poison)).toMatchObject({ status: 'error', error: { error: 'RunAttemptsExhausted' } });
  for (const run of innocents) expect(await deployment.ended(run)).toMatchObject({ status: 'success' });
});
