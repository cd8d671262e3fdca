import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createProgress, type Progress } from './progress.ts';

let written: string;
const startOn = (out: { isTTY?: boolean; columns?: number }, environment = {}): Progress =>
  createProgress({ ...out, write: (text) => (written += text) }, environment);
/** Returns the lines since the last call, without the seconds since the start. */
function lines(): string[] {
  const text = written.replace(/ *\d+\.\d s {2}/g, '');
  written = '';
  return text.split('\n').slice(0, -1);
}

beforeEach(() => {
  written = '';
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('a step that takes longer than two seconds is named again, ever more seldom where lines stay', () => {
  const progress = startOn({});
  progress.step('Installing');
  vi.advanceTimersByTime(1_999);
  expect(lines()).toEqual(['Installing']);
  vi.advanceTimersByTime(1);
  expect(lines()).toEqual(['… 2 s: Installing']);
  vi.advanceTimersByTime(60_000);
  expect(lines()).toEqual([6, 14, 30, 60].map((seconds) => `… ${seconds} s: Installing`));
});

it('a terminal has one line about what takes long, which the next step replaces', () => {
  const progress = startOn({ isTTY: true, columns: 30 });
  progress.step('Downloading something with a long name');
  vi.advanceTimersByTime(3_000);
  const drawn = written.split('\r\u001b[2K');
  expect(drawn).toHaveLength(3);
  for (const line of drawn.slice(1)) expect(line).toHaveLength(29);
  expect(written).not.toContain('\n…');
  written = '';
  progress.step('Next');
  expect(written.startsWith('\r\u001b[2K')).toBe(true);
  expect(written).toMatch(/ s {2}Next\n$/);
});

it('what goes on beside other steps is what is waited for, until it is settled', async () => {
  const progress = startOn({});
  let fail: (error: Error) => void = () => {};
  const work = new Promise((_, reject) => {
    fail = reject;
  });
  progress.step('Downloading', work);
  progress.step('Postgres on port 1');
  vi.advanceTimersByTime(2_000);
  expect(lines().at(-1)).toBe('… 2 s: Downloading');
  fail(new Error('away'));
  await vi.advanceTimersByTimeAsync(4_000);
  expect(lines().at(-1)).toBe('… 6 s: Postgres on port 1');
});

it('nothing more is said of what is done, whatever is printed afterwards', () => {
  const progress = startOn({});
  progress.step('Deploying');
  progress.done('Ready');
  progress.say('a run has ended');
  vi.advanceTimersByTime(60_000);
  expect(lines()).toEqual(['Deploying', 'Ready', 'a run has ended']);
});

it('what runs print during a step puts its reminder off', () => {
  const progress = startOn({});
  progress.step('Reloading');
  vi.advanceTimersByTime(1_500);
  progress.say('a run has ended');
  vi.advanceTimersByTime(1_500);
  expect(lines()).toEqual(['Reloading', 'a run has ended']);
  vi.advanceTimersByTime(500);
  expect(lines()).toEqual(['… 4 s: Reloading']);
});

it('a terminal that understands no control characters gets none', () => {
  const progress = startOn({ isTTY: true }, { TERM: 'dumb' });
  progress.step('Installing');
  vi.advanceTimersByTime(10_000);
  expect(written).not.toContain('\u001b');
});
