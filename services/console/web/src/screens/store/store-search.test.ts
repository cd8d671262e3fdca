import { defaultParseSearch, defaultStringifySearch } from '@tanstack/react-router';
import { expect, test } from 'vitest';
import { faultOfNamespace, readStoreSearch } from './store-search.ts';

test('namespaces and keys of any characters come back from the address as they were', () => {
  for (const label of ['a/b & "c"', '1', 'true', '["x"]', ' ', '%25', '#?=+é', '*', 'null'])
    for (const key of [label, '']) {
      const search = { namespace: ['users', label], key, query: 'words', filter: { theme: { $ne: label } } };
      expect(readStoreSearch(defaultParseSearch(defaultStringifySearch(search)))).toEqual(search);
    }
});

test('an address that names no namespace opens the root, without an item', () => {
  expect(readStoreSearch({ namespace: 'users', key: 'one' })).toEqual({});
  expect(readStoreSearch({ namespace: [], filter: [], query: ' ' })).toEqual({});
  expect(readStoreSearch({ namespace: ['users', ''] })).toEqual({});
});

test('a key that looks like a number, written by hand, is the text', () => {
  expect(readStoreSearch(defaultParseSearch('?namespace=["users"]&key=404'))).toEqual({
    namespace: ['users'],
    key: '404',
  });
});

test('periods stand between labels', () => {
  expect(faultOfNamespace('users.ada')).toBeUndefined();
  for (const text of ['', '.', 'users.', '.ada', 'users..ada'])
    expect(faultOfNamespace(text)).toEqual(expect.any(String));
});
