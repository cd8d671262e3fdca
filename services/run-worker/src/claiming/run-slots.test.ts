import { expect, it } from 'vitest';
import { RunSlots } from './run-slots.ts';

function slotsWith({ slots, inFlight, waiting }: { slots: number; inFlight: number; waiting: number }) {
  const { free, freeForAwaited } = new RunSlots({ slots, inFlight: () => inFlight, waiting: () => waiting });
  return { free, freeForAwaited };
}

it('a run that waits for another lends its slot to any run, as often as there are slots', () => {
  expect(slotsWith({ slots: 2, inFlight: 2, waiting: 0 }).free).toBe(0);
  expect(slotsWith({ slots: 2, inFlight: 2, waiting: 1 }).free).toBe(1);
  expect(slotsWith({ slots: 2, inFlight: 4, waiting: 4 }).free).toBe(0);
});

it('runs that are waited for get more room beyond that, up to a limit', () => {
  expect(slotsWith({ slots: 1, inFlight: 2, waiting: 2 })).toEqual({ free: 0, freeForAwaited: 10 });
  expect(slotsWith({ slots: 1, inFlight: 12, waiting: 12 })).toEqual({ free: 0, freeForAwaited: 0 });
  expect(slotsWith({ slots: 10, inFlight: 20, waiting: 20 }).freeForAwaited).toBe(28);
});

it('runs that resume beside those that took their slots leave none free', () => {
  expect(slotsWith({ slots: 2, inFlight: 4, waiting: 0 }).free).toBe(0);
});

it('a worker with no slots takes no runs', () => {
  expect(slotsWith({ slots: 0, inFlight: 0, waiting: 0 })).toEqual({ free: 0, freeForAwaited: 0 });
});
