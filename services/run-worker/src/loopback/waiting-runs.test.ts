import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { WaitingRuns } from './waiting-runs.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const [threadId, runId] = [randomUUID(), randomUUID()];

it('a run waits from when its request has taken a while until it is answered', () => {
  const onWaiting = vi.fn();
  const waiting = new WaitingRuns(onWaiting);
  const request = waiting.begin('parent', `/threads/${threadId}/runs/wait?x=1`);
  expect([waiting.ids.size, waiting.awaited]).toEqual([0, undefined]);
  vi.advanceTimersByTime(50);
  expect(onWaiting).toHaveBeenCalledOnce();
  expect([...waiting.ids]).toEqual(['parent']);
  expect(waiting.awaited).toEqual({ threadIds: [threadId], runIds: [] });
  request.end();
  expect([waiting.ids.size, waiting.awaited]).toEqual([0, undefined]);
});

it('a request that is answered at once is no wait', () => {
  const onWaiting = vi.fn();
  new WaitingRuns(onWaiting).begin('parent', '/threads/search').end();
  vi.advanceTimersByTime(1_000);
  expect(onWaiting).not.toHaveBeenCalled();
});

it('the run that a request without a thread created is read from its answer', () => {
  const onWaiting = vi.fn();
  const waiting = new WaitingRuns(onWaiting);
  const request = waiting.begin('parent', '/runs/stream');
  vi.advanceTimersByTime(50);
  expect(waiting.awaited).toBeUndefined();
  request.setLocation(`/runs/${runId}`);
  expect(waiting.awaited).toEqual({ threadIds: [], runIds: [runId] });
  expect(onWaiting).toHaveBeenCalledTimes(2);
});

it('several requests of one run are one wait; what is not an id is none', () => {
  const waiting = new WaitingRuns(() => undefined);
  waiting.begin('parent', `/runs/${'-'.repeat(36)}/join`);
  waiting.begin('parent', '/my/route');
  vi.advanceTimersByTime(50);
  expect(waiting.ids.size).toBe(1);
  expect(waiting.awaited).toBeUndefined();
});
