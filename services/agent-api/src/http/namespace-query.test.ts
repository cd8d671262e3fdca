import { expect, it } from 'vitest';
import { parseNamespace } from './namespace-query.ts';

it('a namespace is read from labels joined by periods or from a repeated parameter', () => {
  expect(parseNamespace('a.b')).toEqual(['a', 'b']);
  expect(parseNamespace(['a', 'b'])).toEqual(['a', 'b']);
});
