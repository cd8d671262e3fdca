import { expect, it } from 'vitest';
import { headerPicker } from './header-choice.ts';

const headers = {
  'x-user': 'u',
  'x-user-role': 'r',
  'user-agent': 'a',
  'x-api-key': 'k',
  'x-tenant-id': 't',
  'x-service-key': 's',
  'x-runyard-principal': 'p',
  langgraph_auth_user: 'somebody else',
  'x.user': 'dot',
};

it('a missing choice picks no header', () => {
  expect(headerPicker(undefined)(headers)).toEqual({});
  expect(headerPicker({ excludes: ['x-*'] })(headers)).toEqual({});
});

it('a choice picks headers by name and wildcard, in any case, and only * is special', () => {
  expect(headerPicker({ includes: ['X-User'] })(headers)).toEqual({ 'x-user': 'u' });
  expect(headerPicker({ includes: ['x-user*'] })(headers)).toEqual({ 'x-user': 'u', 'x-user-role': 'r' });
  expect(headerPicker({ includes: ['x.user'] })(headers)).toEqual({ 'x.user': 'dot' });
});

it('exclusions come first, and the singular forms count too', () => {
  expect(headerPicker({ include: ['x-user*'], exclude: ['*-role'] })(headers)).toEqual({ 'x-user': 'u' });
  expect(headerPicker({ includes: ['x-user'], excludes: ['x-user'] })(headers)).toEqual({});
});

it("credentials and the platform's own headers are never picked", () => {
  expect(headerPicker({ includes: ['*', 'x-api-key'] })(headers)).toEqual({
    'x-user': 'u',
    'x-user-role': 'r',
    'user-agent': 'a',
    'x.user': 'dot',
  });
});

it("credentials of the project's own are picked only by name, because they would lie in logs, arguments and webhooks", () => {
  const credentials = { authorization: 'Bearer a', cookie: 'session=a', 'proxy-authorization': 'Basic a' };
  expect(headerPicker({ includes: ['*', 'auth*', 'cooki*'] })(credentials)).toEqual({});
  expect(headerPicker({ includes: ['Authorization', '*'] })(credentials)).toEqual({ authorization: 'Bearer a' });
  expect(headerPicker({ includes: ['cookie'], excludes: ['*'] })(credentials)).toEqual({});
});
