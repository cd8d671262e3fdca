import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { WakeableTimer } from './wakeable-timer.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Waits, and returns a function that says whether the wait has ended. */
function startWait(timer: WakeableTimer, ms?: number): () => Promise<boolean> {
  let hasEnded = false;
  void timer.wait(ms).then(() => {
    hasEnded = true;
  });
  return async () => {
    await vi.advanceTimersByTimeAsync(0);
    return hasEnded;
  };
}

it('a wait ends with its time', async () => {
  const hasEnded = startWait(new WakeableTimer(), 1000);
  await vi.advanceTimersByTimeAsync(999);
  expect(await hasEnded()).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(await hasEnded()).toBe(true);
});

it('a wake ends a wait early, and leaves no timer', async () => {
  const timer = new WakeableTimer();
  const hasEnded = startWait(timer, 1000);
  timer.wake();
  expect(await hasEnded()).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});

it('a wake before a wait ends that wait at once, and only that one', async () => {
  const timer = new WakeableTimer();
  timer.wake();
  timer.wake();
  expect(await startWait(timer, 1000)()).toBe(true);
  expect(await startWait(timer, 1000)()).toBe(false);
});

it('a wake before a reset does not end the next wait', async () => {
  const timer = new WakeableTimer();
  timer.wake();
  timer.reset();
  expect(await startWait(timer, 1000)()).toBe(false);
});

it('a wait without a time lasts until a wake', async () => {
  const timer = new WakeableTimer();
  const hasEnded = startWait(timer);
  await vi.advanceTimersByTimeAsync(2 ** 30);
  expect(await hasEnded()).toBe(false);
  timer.wake();
  expect(await hasEnded()).toBe(true);
});
