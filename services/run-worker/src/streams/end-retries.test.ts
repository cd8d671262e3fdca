import { type AppendEvent, StaleEpochError, StreamUnavailableError } from '@runyard/run-stream';
import { waitFor } from '@runyard/test-kit';
import { expect, it } from 'vitest';
import { claimedRun, FakeStreams, quietLogger, workerMetrics } from '../../test/fakes.ts';
import { EndRetries } from './end-retries.ts';
import { endEvent, errorEvent, toStreamedAttempt } from './run-events.ts';

const away = () => Promise.reject(new StreamUnavailableError(new Error('away')));

function telling(maxSize?: number) {
  const streams = new FakeStreams();
  streams.before = away;
  const metrics = workerMetrics();
  const currentEpoch = async () => 9n;
  const late = new EndRetries({
    streams,
    metrics,
    logger: quietLogger,
    currentEpoch,
    retryMs: 1,
    ...(maxSize !== undefined && { maxSize }),
  });
  const lost = async () => (await metrics.lostEvents.get()).values[0]?.value ?? 0;
  return { streams, late, lost };
}

/** Returns a failed run's last events, behind one of its graph of that size. */
function endOfRun(size = 10) {
  const run = toStreamedAttempt(claimedRun());
  const { runId, attempt } = run;
  const values: AppendEvent = { runId, attempt, kind: 'values', event: 'values', data: 'x'.repeat(size) };
  const error = errorEvent(run, { error: 'Oops', message: 'no' });
  return { run, events: [values, error, endEvent(run, 'error', null)] };
}

it('ends wait while Redis is away, and are all published when it is back', async () => {
  const { streams, late, lost } = telling();
  const ends = [endOfRun(), endOfRun(), endOfRun()];
  let tries = 0;
  streams.before = () => {
    tries += 1;
    return away();
  };
  for (const { run, events } of ends) expect(late.add(run, events)).toBe(true);
  await waitFor(() => tries > 5);
  expect(late.count).toBe(3);
  streams.before = () => Promise.resolve();
  await waitFor(() => late.count === 0 && streams.appended.length === 3);
  const tellsOf = (runId: string) => streams.appended.find(({ events }) => events[0]!.runId === runId);
  for (const { run, events } of ends) expect(tellsOf(run.runId)).toMatchObject({ events, options: { endsRun: true } });
  expect(await lost()).toBe(0);
});

it('an end that was overtaken again and again is published in the end', async () => {
  const { streams, late } = telling();
  const { run, events } = endOfRun();
  let tries = 0;
  streams.before = async ({ threadId, epoch }) => {
    tries += 1;
    if (tries < 5) throw new StaleEpochError(threadId, epoch);
  };
  late.add(run, events);
  await waitFor(() => streams.kinds().includes('run.end'));
});

it("an end without room for the graph's events waits alone and begins with a gap", async () => {
  const { streams, late, lost } = telling(1_000);
  const { run, events } = endOfRun(2_000);
  expect(late.add(run, events)).toBe(true);
  expect(await lost()).toBe(1);
  streams.before = () => Promise.resolve();
  await waitFor(() => late.count === 0 && streams.appended.length === 1);
  expect(streams.appended[0]!.events).toMatchObject([
    { runId: run.runId, kind: 'stream.gap', data: '{"reason":"lost","after":null}' },
    { kind: 'error' },
    { kind: 'run.end' },
  ]);
});

it('ends beyond the room do not wait', async () => {
  const { late } = telling(150);
  const [first, second] = [endOfRun(2_000), endOfRun(2_000)];
  expect(late.add(first.run, first.events)).toBe(true);
  expect(late.add(second.run, second.events)).toBe(false);
  await late.close();
});

it('a worker that stops tries once more, and counts what it leaves behind', async () => {
  const { streams, late, lost } = telling();
  const [first, second] = [endOfRun(), endOfRun()];
  late.add(first.run, first.events);
  await late.close();
  expect(await lost()).toBe(3);
  expect(late.add(second.run, second.events)).toBe(false);

  const other = telling();
  other.late.add(first.run, first.events);
  other.streams.before = () => Promise.resolve();
  await other.late.close();
  expect(other.streams.kinds()).toEqual(['values', 'error', 'run.end']);
  expect(await other.lost()).toBe(0);
  expect(streams.appended).toEqual([]);
});
