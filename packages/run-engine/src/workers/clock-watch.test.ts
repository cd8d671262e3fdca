import { expect, it } from 'vitest';
import { ClockWatch } from './clock-watch.ts';

function watching() {
  const clock = { own: 5_000, database: 1_000_000 };
  const watch = new ClockWatch({ toleranceMs: 1_000, holdMs: 10_000, now: () => clock.own });
  const pass = (ms: number) => {
    clock.own += ms;
    clock.database += ms;
  };
  /** Reads the time with an answer that takes this long. */
  const read = (takesMs = 0) =>
    watch.read(
      async () => {
        const time = clock.database;
        pass(takesMs);
        return time;
      },
      (time) => time,
    );
  return { watch, clock, pass, read };
}

it('a steady clock is trusted, even when answers are slow', async () => {
  const { watch, pass, read } = watching();
  for (const takesMs of [0, 5, 30_000, 5, 0]) {
    pass(3_600_000);
    await read(takesMs);
    expect(watch.isTrusted).toBe(true);
  }
});

it.each([
  ['ahead', 3_600_000],
  ['back', -3_600_000],
])('a clock that was set %s is not trusted for a while', async (_direction, byMs) => {
  const { watch, clock, pass, read } = watching();
  await read();
  clock.database += byMs;
  await read();
  expect(watch.isTrusted).toBe(false);
  pass(9_999);
  await read();
  expect(watch.isTrusted).toBe(false);
  pass(1);
  await read();
  expect(watch.isTrusted).toBe(true);
});

it('a small correction of the clock is ignored', async () => {
  const { watch, clock, read } = watching();
  await read();
  clock.database += 900;
  await read();
  expect(watch.isTrusted).toBe(true);
});
