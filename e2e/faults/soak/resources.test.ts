import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect, it } from 'vitest';
import { INSPECTABLE } from './inspected-process.ts';
import { growthPerTenMinutes, ResourceSampler } from './resources.ts';

const MB = 2 ** 20;
const looks = (bytesAt: (minute: number) => number) =>
  Array.from({ length: 30 }, (_, minute) => ({ at: minute * 60_000, bytes: bytesAt(minute) }));

it('the growth of memory is that of what stays, not of a step or an odd sample', () => {
  expect(growthPerTenMinutes(looks((minute) => (100 + minute * 0.5) * MB))).toBeCloseTo(5, 1);
  expect(growthPerTenMinutes(looks((minute) => (minute > 2 ? 120 : 100) * MB))).toBeCloseTo(0, 1);
  expect(growthPerTenMinutes(looks((minute) => (minute % 10 === 9 ? 160 : 100) * MB))).toBeCloseTo(0, 1);
  expect(growthPerTenMinutes([])).toBe(0);
});

/** Holds 40 MB, 20 of them for good, and some timers, in a process below it too. */
const HOLDER = `
  const { spawn } = require('node:child_process');
  const fill = () => Array.from({ length: 20 }, () => new Array(2 ** 17).fill(Math.random()));
  globalThis.held = fill();
  globalThis.dropped = fill();
  for (let n = 0; n < 5; n += 1) setTimeout(() => {}, 1e8);
  clearTimeout(setTimeout(() => {}, 1e8));
  globalThis.file = require('node:fs').openSync(process.execPath);
  if (process.argv[1] === 'below') setInterval(() => {}, 1e8).unref();
  else spawn(process.execPath, ['${INSPECTABLE}', '-e', process.env.HOLDER, 'below'], { stdio: ['ignore', 'inherit', 'ignore'] });
  globalThis.dropped = undefined;
  console.log('up');
`;
const opened: (() => void)[] = [];
afterEach(() => {
  for (const close of opened.splice(0)) close();
});

it('what a process and one below it hold is measured without their garbage', async () => {
  const env = { PATH: process.env.PATH, HOLDER };
  const holder = spawn(process.execPath, [INSPECTABLE, '-e', HOLDER], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  opened.push(() => process.kill(-(holder.pid as number), 'SIGKILL'));
  let output = '';
  while (output !== 'up\nup\n') output += String((await once(holder.stdout, 'data'))[0]);

  const watch = new ResourceSampler(holder.pid as number);
  opened.push(() => watch.close());
  const first = await watch.look();
  expect(first.liveBytes / MB).toBeGreaterThan(40);
  expect(first.liveBytes / MB).toBeLessThan(60);
  expect(first.residentBytes).toBeGreaterThan(first.liveBytes);
  expect(first.timers).toBe(11);

  const second = await watch.look();
  expect(Math.abs(second.liveBytes - first.liveBytes) / MB).toBeLessThan(1);
  expect(second).toMatchObject({ timers: first.timers, descriptors: first.descriptors });
});
