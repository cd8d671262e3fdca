import { ByteBudget } from '@runyard/service-kit';
import { expect, it } from 'vitest';
import { ContentRoom } from './content-room.ts';
import type { TaskRecord } from './task-record.ts';

const KB = 1024;
const SIZES = { small: 10 * KB, large: 300 * KB, huge: 9_000 * KB };
type Size = keyof typeof SIZES;
const task = (size: Size) => ({ contextId: 'c', runId: size }) as TaskRecord;
const never = new AbortController().signal;

function openRoom() {
  const threads = { contentBytesOf: async (ids: string[]) => new Map(ids.map((id) => [id, SIZES[id as Size]])) };
  const budget = new ByteBudget(1_000 * KB);
  return { budget, room: new ContentRoom({ threads, budget }) };
}

it('large answers hold no more bytes than the budget together, until their clients have read them', async () => {
  const { budget, room } = openRoom();
  const [first, second] = [new AbortController(), new AbortController()];
  expect(await room.take([task('large')], first.signal)).toBe(1);
  expect(await room.take([task('small')], never)).toBe(1);
  const waiting = room.take([task('huge')], second.signal);
  const left = new AbortController();
  const leaving = room.take([task('large')], left.signal);
  left.abort();
  expect(await leaving).toBe(undefined);
  expect(budget.heldBytes).toBe(600 * KB);
  first.abort();
  expect(await waiting).toBe(1);
  expect(budget.heldBytes).toBe(budget.maxBytes);
  second.abort();
  expect(budget.heldBytes).toBe(0);
});

it('one answer has as many of the first tasks as the budget takes, at least one', async () => {
  const { budget, room } = openRoom();
  const answer = new AbortController();
  const take = (...sizes: Size[]) => room.take(sizes.map(task), answer.signal);
  expect(await take('large', 'small', 'large', 'small')).toBe(2);
  expect(budget.heldBytes).toBe(620 * KB);
  answer.abort();
  expect(budget.heldBytes).toBe(0);
  expect(await room.take([task('huge'), task('small')], AbortSignal.any([never]))).toBe(1);
  expect(await room.take([], never)).toBe(0);
});
