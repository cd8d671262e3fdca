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

it('picks nothing by default', () => {
  expect(headerPicker(undefined)(headers)).toEqual({});
  expect(headerPicker({ excludes: ['x-*'] })(headers)).toEqual({});
});

it('picks by name and wildcard, in any case, and nothing but * is special', () => {
  expect(headerPicker({ includes: ['X-User'] })(headers)).toEqual({ 'x-user': 'u' });
  expect(headerPicker({ includes: ['x-user*'] })(headers)).toEqual({ 'x-user': 'u', 'x-user-role': 'r' });
  expect(headerPicker({ includes: ['x.user'] })(headers)).toEqual({ 'x.user': 'dot' });
});

it('looks at exclusions first, and takes the singular forms', () => {
  expect(headerPicker({ include: ['x-user*'], exclude: ['*-role'] })(headers)).toEqual({ 'x-user': 'u' });
  expect(headerPicker({ includes: ['x-user'], excludes: ['x-user'] })(headers)).toEqual({});
});

it('never picks credentials, nor what the platform says to itself', () => {
  expect(headerPicker({ includes: ['*', 'x-api-key'] })(headers)).toEqual({
    'x-user': 'u',
    'x-user-role': 'r',
    'user-agent': 'a',
    'x.user': 'dot',
  });
});

it('picks what callers prove themselves with only by its name: it would lie in logs, arguments and webhooks', () => {
  const credentials = { authorization: 'Bearer a', cookie: 'session=a', 'proxy-authorization': 'Basic a' };
  expect(headerPicker({ includes: ['*', 'auth*', 'cooki*'] })(credentials)).toEqual({});
  expect(headerPicker({ includes: ['Authorization', '*'] })(credentials)).toEqual({ authorization: 'Bearer a' });
  expect(headerPicker({ includes: ['cookie'], excludes: ['*'] })(credentials)).toEqual({});
});
