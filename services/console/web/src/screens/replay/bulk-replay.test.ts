import { expect, test } from 'vitest';
import { type BulkOutcome, replayAll } from './bulk-replay.ts';

const shadowOf = (run: number) => ({ deploymentId: 'd', threadId: 't', runId: `shadow of ${run}` });
const never = new AbortController().signal;

test('a run that cannot be replayed stops no other, and each outcome stands with its run', async () => {
  let outcomes: readonly BulkOutcome[] = [];
  const replay = async (run: number) => {
    if (run === 2) throw new Error('its thread was deleted');
    return shadowOf(run);
  };
  await replayAll([1, 2, 3, 4, 5], replay, (now) => (outcomes = now), never);
  expect(outcomes.map(({ type }) => type)).toEqual(['made', 'failed', 'made', 'made', 'made']);
  expect(outcomes[4]).toEqual({ type: 'made', shadow: shadowOf(5) });
});

test('a few are replayed at a time', async () => {
  let [now, most] = [0, 0];
  const replay = async (run: number) => {
    most = Math.max(most, ++now);
    await new Promise((resolve) => setTimeout(resolve, 1));
    now -= 1;
    return shadowOf(run);
  };
  await replayAll(Array.from({ length: 20 }, Number), replay, () => {}, never);
  expect(most).toBe(3);
});

test('when it is stopped, runs under way end, and no further one begins', async () => {
  const stop = new AbortController();
  let outcomes: readonly BulkOutcome[] = [];
  const begun: number[] = [];
  const replay = async (run: number) => {
    begun.push(run);
    if (run === 1) stop.abort();
    return shadowOf(run);
  };
  await replayAll([1, 2, 3, 4, 5], replay, (now) => (outcomes = now), stop.signal);
  expect(begun).toEqual([1]);
  expect(outcomes.map(({ type }) => type)).toEqual(['made', 'stopped', 'stopped', 'stopped', 'stopped']);
});
