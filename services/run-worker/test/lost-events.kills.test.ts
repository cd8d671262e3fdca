import { BEFORE_ALL, CONTROL_KINDS, type StreamEntry } from '@runyard/run-stream';
import { type FaultLine, waitFor } from '@runyard/test-kit';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Deployment, openDeployment } from './worker-fixture.ts';

let deployment: Deployment;
/** The lines of workers that were cut off: they cannot stop in time without. */
let cut: FaultLine[];
beforeEach(async () => {
  cut = [];
  deployment = await openDeployment();
});
afterEach(async () => {
  await Promise.all(cut.map((line) => line.heal()));
  await deployment.close();
});

/** Starts a run of `steps` that waits in its first step, with its beginning published. */
async function runInFirstStep() {
  const [ledger, gate] = [deployment.file(), deployment.file()];
  const run = await deployment.create('steps', {
    input: { ledger: ledger.path, gate: gate.path },
    streamMode: ['updates'],
    durability: 'sync',
    resumable: true,
  });
  const reaches = (step: string, times = 1) =>
    waitFor(async () => (await ledger.lines()).filter((line) => line === step).length === times, {
      what: `step ${step}`,
    });
  await reaches('one');
  await waitFor(async () => (await deployment.streams.newestId(run.threadId)) !== BEFORE_ALL, { what: 'its metadata' });
  return { run, reaches, gate };
}

/** Starts a worker that can be cut off as if it was killed: nothing that it has sent and that is under way arrives. */
async function startMortalWorker() {
  const { DATABASE_URI, REDIS_URI } = await deployment.lines();
  await deployment.startWorker({ DATABASE_URI: DATABASE_URI.url, REDIS_URI: REDIS_URI.url });
  cut.push(DATABASE_URI, REDIS_URI);
  return { loseRedis: () => REDIS_URI.partition(), loseDatabase: () => DATABASE_URI.partition() };
}

/** Returns the nodes whose updates came in each attempt, `gap` for a gap. */
function shown(events: StreamEntry[], attempt: number): unknown[] {
  return events
    .filter((event) => event.attempt === attempt && event.kind !== CONTROL_KINDS.end)
    .flatMap(({ kind, data }) => {
      if (kind === CONTROL_KINDS.gap) return [`gap ${JSON.parse(data).reason}`];
      return kind === 'updates' ? Object.keys(JSON.parse(data)) : [kind];
    });
}

it('events that a worker lost between the commit of their checkpoint and Redis are reported by the next attempt', async () => {
  const first = await startMortalWorker();
  const { run, reaches, gate } = await runInFirstStep();
  first.loseRedis();
  await gate.write('one');
  await reaches('two');
  first.loseDatabase();
  await deployment.startWorker();
  await reaches('two', 2);
  await gate.write('one two three');
  expect(await deployment.ended(run)).toMatchObject({ status: 'success', attempt: 2 });
  const events = await deployment.events(run);
  expect(shown(events, 1)).toEqual(['metadata']);
  expect(shown(events, 2)).toEqual(['metadata', 'gap lost', 'two', 'three']);
});

it('the loss of a later attempt is reported too, and that of the earlier one only once', async () => {
  const first = await startMortalWorker();
  const { run, reaches, gate } = await runInFirstStep();
  first.loseRedis();
  await gate.write('one');
  await reaches('two');
  first.loseDatabase();
  const second = await startMortalWorker();
  await reaches('two', 2);
  second.loseRedis();
  await gate.write('one two');
  await reaches('three');
  second.loseDatabase();
  await deployment.startWorker();
  await reaches('three', 2);
  await gate.write('one two three');
  expect(await deployment.ended(run)).toMatchObject({ status: 'success', attempt: 3 });
  const events = await deployment.events(run);
  expect(shown(events, 2)).toEqual(['metadata', 'gap lost']);
  expect(shown(events, 3)).toEqual(['metadata', 'gap lost', 'three']);
});

it('an attempt after one that published all of its events reports no gap', async () => {
  const first = await startMortalWorker();
  const { run, reaches, gate } = await runInFirstStep();
  await gate.write('one');
  await reaches('two');
  for await (const { kind } of deployment.streams.read(run.threadId, { runId: run.runId })) {
    if (kind === 'updates') break;
  }
  first.loseRedis();
  first.loseDatabase();
  await deployment.startWorker();
  await reaches('two', 2);
  await gate.write('one two three');
  expect(await deployment.ended(run)).toMatchObject({ status: 'success', attempt: 2 });
  const events = await deployment.events(run);
  expect(shown(events, 1)).toEqual(['metadata', 'one']);
  expect(shown(events, 2)).toEqual(['metadata', 'two', 'three']);
});

it('a run that a stopping worker hands back has lost nothing', async () => {
  const first = await deployment.startWorkerProcess({ BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: '0' });
  const { run, reaches, gate } = await runInFirstStep();
  await gate.write('one');
  await reaches('two');
  await deployment.startWorker();
  expect(await first.stop()).toEqual({ code: 0, signal: null });
  await reaches('two', 2);
  await gate.write('one two three');
  expect(await deployment.ended(run)).toMatchObject({ status: 'success', attempt: 2 });
  const events = await deployment.events(run);
  expect([shown(events, 1), shown(events, 2)]).toEqual([
    ['metadata', 'one'],
    ['metadata', 'two', 'three'],
  ]);
});

it('an attempt after one of an earlier release, whose checkpoints have no position, reports no gap', async () => {
  const first = await startMortalWorker();
  const { run, reaches, gate } = await runInFirstStep();
  await gate.write('one');
  await reaches('two');
  first.loseRedis();
  first.loseDatabase();
  await deployment.rows('UPDATE checkpoint SET stream_position = NULL');
  await deployment.rows('UPDATE checkpoint_write SET stream_position = NULL');
  await deployment.startWorker();
  await gate.write('one two three');
  expect(await deployment.ended(run)).toMatchObject({ status: 'success', attempt: 2 });
  expect(shown(await deployment.events(run), 2)).toEqual(['metadata', 'two', 'three']);
});
