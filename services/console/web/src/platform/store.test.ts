import { expect, test } from 'vitest';
import { labelsBelow } from './store.ts';

test('only what is directly below a namespace is shown below it, also where a label is `*`', () => {
  const namespaces = [['*'], ['*', 'one'], ['users', 'two'], ['*', 'a/b & "c"']];
  expect(labelsBelow(['*'], namespaces)).toEqual(['one', 'a/b & "c"']);
  expect(labelsBelow([], [['a'], ['b']])).toEqual(['a', 'b']);
});
