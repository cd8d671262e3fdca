import { expect, test } from 'vitest';
import { firstOpen, jsonRows, TEXT_MAX } from './json-rows.ts';

const names = (value: unknown, ...open: string[]) => jsonRows(value, 'it', new Set(open)).map(({ name }) => name);

test('a value is looked into only where it is open', () => {
  const value = { a: { b: [1, 2] }, c: 'text' };
  expect(names(value)).toEqual(['it']);
  expect(names(value, '')).toEqual(['it', 'a', 'c']);
  expect(names(value, '', '/a', '/a/b')).toEqual(['it', 'a', 'b', '0', '1', 'c']);
});

test('a line of a value keeps its path when the value grows', () => {
  const path = (value: unknown) => jsonRows(value, 'it', new Set(['', '/a~1b'])).find(({ name }) => name === 'x')?.path;
  expect(path({ 'a/b': { x: 1 } })).toBe('/a~1b/x');
  expect(path({ first: 0, 'a/b': { w: 0, x: 1 } })).toBe('/a~1b/x');
});

test('a list of a million entries is shown in parts of parts, each of a hundred at most', () => {
  const value = Array.from({ length: 1_000_000 }, (_, index) => index);
  expect(names(value, '')).toHaveLength(101);
  const part = '/990000…999999';
  const rows = jsonRows(value, 'it', new Set(['', part, `${part}/999900…999999`]));
  expect(rows).toHaveLength(301);
  expect(rows.at(-1)).toMatchObject({ name: '999999', value: 999_999, position: 100, siblings: 100, level: 4 });
});

test('a long text comes in pieces that make the text again', () => {
  const text = 'abc'.repeat(TEXT_MAX);
  const [root, ...pieces] = jsonRows(text, 'it', new Set(['']));
  expect(root?.summary).toBe('6,000 characters');
  expect(pieces.map(({ value }) => value).join('')).toBe(text);
});

test('what fits on a screen is open at first, and a large list below the root is not', () => {
  const open = firstOpen({ small: { a: 1 }, large: Array.from({ length: 90 }, () => ({})) });
  expect([...open]).toEqual(['', '/small']);
});

test('values without parts cannot be opened', () => {
  for (const value of ['', 'text', 0, false, null, undefined, [], {}])
    expect(jsonRows(value, 'it', new Set(['']))).toMatchObject([{ isBranch: false }]);
});
