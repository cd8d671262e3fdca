import { randomUUID } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { expect, it } from 'vitest';
import { lowestIdAt, timeOfId } from './run-id-time.ts';

it('an id says when it was made, and sorts behind the lowest of its time', () => {
  const msecs = Date.UTC(2026, 10, 20, 12);
  const id = uuidv7({ msecs });
  expect(timeOfId(id)).toBe(msecs);
  expect(timeOfId(id.toUpperCase())).toBe(msecs);
  expect([lowestIdAt(msecs) <= id, id < lowestIdAt(msecs + 1)]).toEqual([true, true]);
});

it('an id of another version says nothing', () => {
  expect([timeOfId(randomUUID()), timeOfId('not an id'), timeOfId('')]).toEqual([undefined, undefined, undefined]);
});
