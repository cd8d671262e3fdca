import { expect, it } from 'vitest';
import { growth, holdingOf } from './resources.ts';

const MB = 2 ** 20;
const samples = (bytesAt: (minute: number) => number) =>
  Array.from({ length: 180 }, (_, index) => ({ at: index * 10_000, bytes: bytesAt(index / 6), descriptors: 0 }));

it('the growth of memory is that of what stays, not of what a garbage collector has yet to take', () => {
  expect(growth(samples((minute) => 100 * MB + (minute % 1) * 30 * MB))).toBeCloseTo(0, 1);
  expect(growth(samples((minute) => 100 * MB + Math.floor(minute) * 0.5 * MB))).toBeCloseTo(5, 1);
  expect(growth(samples((minute) => (minute > 4 ? 120 : 100) * MB))).toBeCloseTo(0, 1);
  expect(growth([])).toBe(0);
});

it('what a process holds is told by the system', async () => {
  expect(await holdingOf(process.pid)).toMatchObject({ bytes: expect.any(Number), descriptors: expect.any(Number) });
  expect((await holdingOf(process.pid)).bytes).toBeGreaterThan(10 * MB);
});
