import { expect, it } from 'vitest';
import { JsonText, toJsonBytes } from './json-text.ts';

const text = (value: unknown) => new JsonText(Buffer.from(JSON.stringify(value)));

it.each([
  [null],
  [undefined],
  ['text "ü" \ud800'],
  [[]],
  [{}],
  [[1, undefined, [], {}, () => 1]],
  [{ a: undefined, b: [{ c: { d: { e: { f: [1] } } } }], 'odd "key"': new Date(0) }],
])('%# is written as JSON.stringify writes it', (value) => {
  expect(toJsonBytes(value).toString()).toBe(JSON.stringify(value) ?? 'null');
});

it('JSON text takes the place of its value, however deep', () => {
  const inner = { long: ['ü', 1], empty: {} };
  const withTexts = (leaf: unknown) => ({ a: leaf, list: [leaf, { b: leaf }], deep: { b: { c: { d: { e: leaf } } } } });
  expect(toJsonBytes(withTexts(text(inner))).toString()).toBe(JSON.stringify(withTexts(inner)));
  expect(JSON.stringify(withTexts(text(inner)))).toBe(JSON.stringify(withTexts(inner)));
  expect(toJsonBytes(text(inner)).toString()).toBe(JSON.stringify(inner));
});

it('JSON text is passed on without being parsed', () => {
  const unparsed = new JsonText(Buffer.from('{"n": 1.0}'));
  expect(toJsonBytes([{ state: { metadata: { writes: unparsed } } }]).toString()).toBe(
    '[{"state":{"metadata":{"writes":{"n": 1.0}}}}]',
  );
});
