import { ByteBudget } from '@runyard/service-kit';
import { expect, it } from 'vitest';
import { ContentRoom } from './content-room.ts';
import type { TaskRecord } from './task-record.ts';

const KB = 1024;
const task = (runId: string) => ({ contextId: 'c', runId }) as TaskRecord;

it('large answers hold no more bytes than the budget together, until their clients have read them', async () => {
  const sizes: Record<string, number> = { small: 10 * KB, large: 300 * KB, huge: 9_000 * KB };
  const engine = {
    readOutcome: async ({ runId }: { runId: string }) => ({
      status: 'success' as const,
      error: null,
      valuesBytes: sizes[runId]!,
      values: null,
    }),
  };
  const budget = new ByteBudget(1_000 * KB);
  const room = new ContentRoom({ engine, budget });
  const never = new AbortController().signal;
  const [first, second] = [new AbortController(), new AbortController()];
  expect(await room.take(task('large'), first.signal)).toBe(true);
  expect(await room.take(task('small'), never)).toBe(true);
  const waiting = room.take(task('huge'), second.signal);
  const left = new AbortController();
  const leaving = room.take(task('large'), left.signal);
  left.abort();
  expect(await leaving).toBe(false);
  expect(budget.heldBytes).toBe(600 * KB);
  first.abort();
  expect(await waiting).toBe(true);
  expect(budget.heldBytes).toBe(budget.maxBytes);
  second.abort();
  expect(budget.heldBytes).toBe(0);
});
