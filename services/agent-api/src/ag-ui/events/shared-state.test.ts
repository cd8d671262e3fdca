import { expect, it } from 'vitest';
import { SharedState } from './shared-state.ts';

/** Returns the events of a change from one state to another. */
function changed(before: object, after: object) {
  const state = new SharedState();
  state.snapshot(before);
  return [...state.change(after)];
}
const numbers = (length: number) => Array.from({ length }, (_, n) => n);

it.each<[string, object, object]>([
  ['an item in front of many', { list: numbers(30_000) }, { list: [-1, ...numbers(30_000)] }],
  ['the end of a long list', { list: numbers(30_000) }, { list: [] }],
  ['many keys that are gone', Object.fromEntries(numbers(30_000).map((n) => [`k${n}`, n])), {}],
  ['few changes below a long key', { ['x'.repeat(40_000)]: [1, 2] }, { ['x'.repeat(40_000)]: [2, 3] }],
])('a state is reported as a whole where its change would be longer: %s', (_, before, after) => {
  expect(changed(before, after)).toEqual([{ type: 'STATE_SNAPSHOT', snapshot: after }]);
});

it('a small change of a large state is a delta, and the next one follows from it', () => {
  const state = new SharedState();
  state.snapshot({ list: numbers(30_000), a: 1 });
  const after = { list: [...numbers(30_000), 'new'], a: 2 };
  expect([...state.change(after)]).toEqual([
    {
      type: 'STATE_DELTA',
      delta: [
        { op: 'add', path: '/list/-', value: 'new' },
        { op: 'replace', path: '/a', value: 2 },
      ],
    },
  ]);
  expect([...state.change(structuredClone(after))]).toEqual([]);
});
