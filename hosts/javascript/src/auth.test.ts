import { AuthHandlerError } from '@runyard/host-client';
import { type AuthUser, GraphLoadError } from '@runyard/host-protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fixtures, type HostUnderTest, startHost } from '../test/host-under-test.ts';

const source = { file: `${fixtures}basic/auth.ts`, symbol: 'auth' };
const ADA: AuthUser = { identity: 'ada', display_name: 'ada', is_authenticated: true, permissions: ['p'] };

let host: HostUnderTest;
beforeAll(async () => {
  host = await startHost('basic', { limits: { authMs: 2_000 } });
});
afterAll(() => host?.close());

const authenticate = (authorization: string, headers: [string, string][] = []) =>
  host.authenticate({
    source,
    method: 'POST',
    url: 'https://example.com/threads?a=1',
    headers: [['authorization', authorization], ...headers],
  });
const authorize = (event: string, value: Record<string, unknown> = {}) => {
  const [resource, action] = event.split(':') as [string, string];
  return host.authorize({ source, resource, action, user: ADA, value });
};

describe('loading', () => {
  it('reports which events have a handler', async () => {
    const { events } = await host.loadAuth(source);
    expect(events).toEqual(expect.arrayContaining(['threads:create', 'threads', '*:read', 'assistants:delete', '*']));
  });

  it.each([
    ['missing', 'has no export named "missing"'],
    ['neither', 'is not an Auth object'],
    ['silent', 'no authenticate handler'],
  ])('refuses the export %s', async (symbol, message) => {
    const loading = host.loadAuth({ ...source, symbol });
    await expect(loading).rejects.toThrow(GraphLoadError);
    await expect(loading).rejects.toThrow(message);
  });
});

describe('authenticating', () => {
  it('a string is the identity of a user, and an object keeps its own fields', async () => {
    const user = { identity: 'ada', display_name: 'ada', is_authenticated: true, permissions: [] };
    expect(await authenticate('plain')).toEqual({ kind: 'user', user });
    expect(await authenticate('rich')).toEqual({
      kind: 'user',
      user: { ...user, permissions: ['read'], org: { id: 7 }, token: 'secret' },
    });
  });

  it('a user who is not authenticated is a user all the same, as the project may have guests', async () => {
    expect(await authenticate('guest')).toMatchObject({
      kind: 'user',
      user: { identity: 'guest', is_authenticated: false },
    });
  });

  it('the handler gets method, URL and all headers of the request', async () => {
    expect(
      await authenticate('echo', [
        ['x-many', 'one'],
        ['x-many', 'two'],
      ]),
    ).toMatchObject({ user: { method: 'POST', url: 'https://example.com/threads?a=1', header: 'one, two' } });
  });

  it('status, message and headers of an HTTPException pass through', async () => {
    expect(await authenticate('stranger')).toEqual({
      kind: 'refused',
      refusal: { status: 401, detail: 'Who are you?', headers: {} },
    });
    expect(await authenticate('gone')).toEqual({
      kind: 'refused',
      refusal: { status: 402, detail: 'Pay first', headers: { 'x-price': '7' } },
    });
  });

  it.each(['nobody', 'empty', 'nothing'])('a user without an identity is refused with 401: %s', async (name) => {
    expect(await authenticate(name)).toMatchObject({ kind: 'refused', refusal: { status: 401 } });
  });

  it.each([
    ['throws', 'failed', 'the directory is away'],
    ['hangs', 'late', 'no answer in 2 s'],
    ['number', 'failed', 'neither a string nor a user'],
    ['wrong', 'failed', 'no list of strings'],
  ])('a handler that %s gives an error with the reason', async (name, reason, message) => {
    const asked = authenticate(name);
    await expect(asked).rejects.toThrow(AuthHandlerError);
    await expect(asked).rejects.toMatchObject({ reason, message: expect.stringContaining(message) });
  });
});

describe('authorizing', () => {
  it('the most specific handler runs alone, and what it changes comes back', async () => {
    expect(await authorize('threads:create', { metadata: { a: 1 } })).toEqual({
      kind: 'allowed',
      filter: { owner: 'ada' },
      value: { metadata: { a: 1, owner: 'ada' } },
    });
    const filter = { by: 'resource', event: 'threads:read', user: 'ada', permissions: ['p'] };
    expect(await authorize('threads:read')).toMatchObject({ filter });
    expect(await authorize('assistants:read')).toMatchObject({ filter: { by: 'action' } });
    expect(await authorize('store:put', { namespace: ['a'] })).toEqual({
      kind: 'allowed',
      filter: null,
      value: { namespace: ['ada', 'a'] },
    });
    expect(await authorize('crons:read')).toMatchObject({ filter: { by: 'action' } });
    expect(await authorize('elsewhere:go')).toMatchObject({ kind: 'allowed', filter: null });
  });

  it('false denies, for each of several events', async () => {
    expect(await authorize('assistants:create')).toEqual({ kind: 'denied' });
    expect(await authorize('assistants:delete')).toEqual({ kind: 'denied' });
    expect(await authorize('assistants:update')).toMatchObject({ refusal: { status: 403, detail: 'Not yours' } });
  });

  it.each([
    ['assistants:search', 'failed', 'filter.owner.$eq is undefined'],
    ['crons:search', 'failed', 'filter.seen is of the class Date'],
    ['crons:create', 'failed', 'neither a boolean nor a filter'],
    ['crons:update', 'failed', 'no such table'],
    ['crons:delete', 'late', 'no answer in 2 s'],
    ['store:search', 'failed', 'value.namespace is undefined'],
    ['store:list_namespaces', 'failed', 'value.namespace[1] is undefined'],
    ['store:delete', 'failed', 'value.key is of the class Date'],
  ])('the handler of %s allows nothing when it does not answer clearly', async (event, reason, message) => {
    const asked = authorize(event);
    await expect(asked).rejects.toThrow(AuthHandlerError);
    await expect(asked).rejects.toMatchObject({ reason, message: expect.stringContaining(message) });
  });
});
