import { expect, it } from 'vitest';
import { hasUserCredentials } from './user-credentials.ts';

const isForUser = hasUserCredentials({ LANGSMITH_API_KEY: ' "own" ', LANGGRAPH_API_KEY: 'other-own' });

it.each<[Record<string, string>, boolean]>([
  [{ authorization: 'Bearer ada' }, true],
  [{ cookie: 'session=ada' }, true],
  [{ 'x-api-key': 'of-ada' }, true],
  [{ 'x-api-key': 'own' }, false],
  [{ 'x-api-key': 'other-own' }, false],
  [{ accept: '*/*' }, false],
])('a request with %o has credentials of a user: %s', (headers, expected) => {
  expect(isForUser({ headers })).toBe(expected);
});
