import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { encodeUser } from '@runyard/host-protocol';
import { waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GuardedDeployment, shareGuardedDeployment, userHeaders } from './guarded-deployment.ts';
import { askOperation } from './operation-rows.ts';

const ADA = userHeaders('ada');

let deployment: GuardedDeployment;
/** Requests whose handler hangs, while the others are answered. */
let hanging: Promise<{ status: number; body: unknown }[]>;
beforeAll(async () => {
  deployment = await shareGuardedDeployment();
  hanging = Promise.all([post('/threads', {}, acting('hang')), post('/store/items/search', {}, acting('hang'))]);
});
afterAll(() => deployment?.close());

const call = async (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) => {
  const response = await fetch(deployment.url + path, { ...init, headers });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
};
const post = (path: string, body: unknown, headers: Record<string, string> = ADA) =>
  call(path, { 'content-type': 'application/json', ...headers }, { method: 'POST', body: JSON.stringify(body) });
const acting = (act: string, on?: string) => ({ ...ADA, 'x-act': act, ...(on !== undefined && { 'x-on': on }) });

describe('handlers', () => {
  it('a refusal has the status, the words and the headers of the handler, and a 401 stays one', async () => {
    const stranger = await call('/threads/1');
    expect([stranger.status, stranger.body]).toEqual([401, { detail: 'Who are you?' }]);
    expect(stranger.headers.get('www-authenticate')).toBe('Bearer');
    const refused = await post('/threads', {}, acting('refuse'));
    expect([refused.status, refused.body]).toEqual([418, { detail: 'No tea today' }]);
    expect(refused.headers.get('x-why')).toBe('tea');
    expect((await call('/threads/1', acting('no-identity'))).status).toBe(401);
  });

  it.each([
    ['no-user', 'neither a string nor a user'],
    ['lost-directory', 'the directory of people is away'],
    ['throw', 'the table of teams is away'],
    ['number', 'neither a boolean nor a filter'],
    ['undefined-value', 'filter.owner is undefined'],
    ['unknown-operator', 'owner.$ne is an unknown operator'],
    ['empty-or', 'filter.$or'],
    ['empty-contains', 'filter.teams.$contains'],
    ['long-or', 'filter.$or'],
    ['other-value', 'replaced the value'],
  ])('a handler with the fault %s allows nothing, and the log alone has the reason', async (act, reason) => {
    const { thread_id } = (await post('/threads', {})).body;
    const asked = [
      () => call(`/threads/${thread_id}`, acting(act)),
      () => post('/threads/search', {}, acting(act)),
      () => post('/threads', {}, acting(act)),
    ];
    for (const each of asked) {
      const { status, body } = await each();
      expect([status, body]).toEqual([500, { detail: 'Internal Server Error' }]);
    }
    await waitFor(() => deployment.service.output().includes(reason), { what: reason });
  });

  it('changes of the value are applied, and a client gives nothing away', async () => {
    const forged = { metadata: { owner: 'bob', colour: 'blue' } };
    const thread = (await post('/threads', forged)).body;
    expect(thread.metadata).toEqual({ owner: 'ada', colour: 'blue' });
    const patched = await call(
      `/threads/${thread.thread_id}`,
      { ...ADA, 'content-type': 'application/json' },
      { method: 'PATCH', body: JSON.stringify(forged) },
    );
    expect(patched.body.metadata).toMatchObject({ owner: 'ada' });
    const item = { namespace: ['notes'], key: 'k', value: { a: 1 } };
    await askOperation(deployment.url, 'putItem', { body: item }, ADA);
    const { rows } = await deployment.pool.query("SELECT namespace FROM store_item WHERE key = 'k'");
    expect(rows).toEqual([{ namespace: ['ada', 'notes'] }]);
  });

  it('a filter by namespace shows the items there to their user alone, and lets nobody else write there', async () => {
    const as = (name: string) => ({ ...userHeaders(name), 'x-act': 'own-namespace' });
    const ask = async (operation: Parameters<typeof askOperation>[1], parts: object, name = 'ada') => {
      const { status, body } = await askOperation(deployment.url, operation, parts, as(name));
      return [status, body];
    };
    const address = { namespace: ['ada', 'plans'], key: 'p' };
    const query = { namespace: 'ada.plans', key: 'p' };
    const value = { a: 1, namespace: ['bob'] };
    expect(await ask('putItem', { body: { ...address, value } })).toEqual([204, '']);
    expect(await ask('putItem', { body: { ...address, value } }, 'bob')).toEqual([403, { detail: 'Not authorized' }]);
    expect(await ask('deleteItem', { body: address }, 'bob')).toEqual([204, '']);
    expect(await ask('getItem', { query })).toMatchObject([200, { ...address, value }]);
    expect(await ask('getItem', { query }, 'bob')).toEqual([200, null]);
    expect(await ask('searchItems', { body: { namespace_prefix: [] } }, 'bob')).toEqual([200, { items: [] }]);
    expect(await ask('searchItems', { body: { namespace_prefix: ['ada', 'plans'] } })).toMatchObject([
      200,
      { items: [address] },
    ]);
    expect(await ask('listNamespaces', { body: {} }, 'bob')).toEqual([200, { namespaces: [] }]);
    expect(await ask('deleteItem', { body: address })).toEqual([204, '']);
    expect(await ask('getItem', { query })).toEqual([200, null]);
  });

  it('an empty filter shows everything', async () => {
    const { thread_id } = (await post('/threads', {})).body;
    expect((await call(`/threads/${thread_id}`, { ...userHeaders('bob'), 'x-act': 'everything' })).status).toBe(200);
  });
});

describe('routes of the project', () => {
  it('find the user, and never a credential of the platform', async () => {
    const forged = {
      'x-runyard-user': encodeUser({ identity: 'bob', display_name: '', is_authenticated: true, permissions: [] }),
    };
    const { body } = await call('/custom/who', { ...ADA, ...forged, ...(await deployment.platformToken()) });
    expect(body.auth).toMatchObject({ user: { identity: 'ada', secret: 'secret of ada' }, scopes: ['be:ada'] });
    expect(Object.keys(body.headers).filter((name) => name.startsWith('x-runyard-'))).toEqual([]);
    const key = await call('/custom/who', await deployment.platformToken());
    expect(key.body.auth).toMatchObject({ user: { identity: 'key-1' }, scopes: ['authenticated'] });
  });

  it('are refused to strangers and to users whom the on handler denies', async () => {
    expect((await call('/custom/who')).status).toBe(401);
    const eve = await call('/custom/who', userHeaders('eve'));
    expect([eve.status, eve.body]).toEqual([403, { detail: 'Forbidden' }]);
    expect((await call('/custom/who', acting('throw', 'routes:call'))).status).toBe(500);
    expect((await call('/noauth')).status).toBe(200);
    for (const path of ['/noauth/', '/NOAUTH', '/%6eoauth', '//noauth', '/noauth/x']) {
      // A path that no route of the app may have does not reach it.
      expect([path, (await call(path)).status]).toEqual([
        path,
        expect.toSatisfy((code) => code === 401 || code === 404),
      ]);
    }
  });

  it('websockets have the same doors', async () => {
    const open = (headers: Record<string, string>) => {
      const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
      const asked = request(`${deployment.url}/custom/chat`, {
        headers: { ...upgrade, 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==', ...headers },
      });
      return asked.end();
    };
    const refusals = [{}, userHeaders('eve')].map(async (headers) => {
      const [answer] = (await once(open(headers), 'response')) as [IncomingMessage];
      return answer.resume().statusCode;
    });
    expect(await Promise.all(refusals)).toEqual([401, 403]);
    const headers = { ...ADA, ...(await deployment.platformToken()) };
    const [, socket, head] = (await once(open(headers), 'upgrade')) as [unknown, Socket, Buffer];
    let seen = String(head);
    while (!seen.endsWith('}}')) seen += String((await once(socket, 'data'))[0]);
    socket.destroy();
    expect(seen).toContain('"auth":{"user":{"identity":"ada"');
    expect(seen).not.toContain('x-runyard-');
  });
});

it('the documentation shows how callers prove who they are', async () => {
  const { paths, components } = (await call('/openapi.json')).body;
  expect(components.securitySchemes).toMatchObject({ people: { type: 'http', scheme: 'bearer' } });
  expect(paths['/threads'].post.security).toEqual([{ people: [] }, { ApiKey: [] }]);
  expect(paths['/ok'].get.security).toEqual([]);
});

it('a handler that hangs ends in 503, allows nothing, and holds up nobody else', async () => {
  expect((await post('/threads/search', {})).status).toBe(200);
  for (const { status, body } of await hanging) {
    expect([status, body]).toEqual([503, { detail: 'The project did not answer' }]);
  }
  expect(deployment.service.output()).toContain('no answer in 15 s');
});
