import { expect, it } from 'vitest';
import { ByteBudget } from './byte-budget.ts';

const never = new AbortController().signal;

it('waiting callers get room in turn, and one that leaves makes room for those behind it', async () => {
  const budget = new ByteBudget(10);
  expect(await budget.takeInTurn(8, never)).toBe(true);
  const leaving = new AbortController();
  const large = budget.takeInTurn(9, leaving.signal);
  const small = budget.takeInTurn(2, never);
  // It would fit, and must not overtake the one that came before.
  expect(budget.heldBytes).toBe(8);
  leaving.abort();
  expect(await large).toBe(false);
  expect(await small).toBe(true);
  expect(budget.heldBytes).toBe(10);
  budget.giveBack(8);
  budget.giveBack(2);
  expect(budget.heldBytes).toBe(0);
  expect(await budget.takeInTurn(1, AbortSignal.abort())).toBe(false);
  expect(budget.heldBytes).toBe(0);
});

it('what is held is given back at the signal, and one that is larger than all is held alone', async () => {
  const budget = new ByteBudget(10);
  const [first, second, left] = [new AbortController(), new AbortController(), new AbortController()];
  expect(await budget.hold(4, first.signal)).toBe(true);
  const larger = budget.hold(99, second.signal);
  const leaving = budget.hold(1, left.signal);
  left.abort();
  expect(await leaving).toBe(false);
  expect(budget.heldBytes).toBe(4);
  first.abort();
  expect(await larger).toBe(true);
  expect(budget.heldBytes).toBe(10);
  second.abort();
  expect(budget.heldBytes).toBe(0);
});
