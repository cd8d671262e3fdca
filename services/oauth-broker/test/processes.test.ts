import type { AuthenticateResponse, WaitResponse } from '@runyard/contracts';
import type { TestServiceProcess } from '@runyard/test-kit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PERMISSIONS, someone, TestBroker } from './support/broker.ts';

/** Two processes share a database. `broker` sends its requests to the second. */
let broker: TestBroker;
let first: TestServiceProcess;
beforeAll(async () => {
  broker = await TestBroker.start(['plain'], {}, { hasOwnProcess: true });
  first = broker.platform.process;
  await broker.platform.startService();
  await broker.provider('plain', { uses_pkce: true });
});
afterAll(async () => {
  await first.stop();
  await broker.close();
});

async function askFirst<Body>(method: string, path: string, as: object, body?: unknown): Promise<Body> {
  const headers = await broker.platform.callers.headers({ permissions: PERMISSIONS, ...as });
  const answer = await fetch(`${first.url}/v2/auth${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return (await answer.json()) as Body;
}

it('a wait in one process ends when another one receives the callback', async () => {
  const alice = someone();
  const begun = await broker.authenticate('plain', {}, alice);
  const waiting = askFirst<WaitResponse>('GET', `/wait/${begun.auth_id}?timeout=600`, alice);
  const query = await broker.consent(begun);
  expect((await broker.callback('plain', query)).status).toBe(200);
  expect(await waiting).toMatchObject({ status: 'completed', token: expect.any(String) });
});

it('a token is refreshed once, whichever process is asked', async () => {
  const alice = someone();
  broker.server.lifetimeSeconds = 50;
  await broker.connect('plain', {}, alice);
  broker.server.lifetimeSeconds = 3600;
  const before = broker.server.tokenRequests.length;
  const body = { provider: 'plain', scopes: ['repo'] };
  const answers = await Promise.all(
    [1, 2, 3].flatMap(() => [
      broker.authenticate('plain', {}, alice),
      askFirst<AuthenticateResponse>('POST', '/authenticate', alice, body),
    ]),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(6).fill('completed'));
  expect(new Set(answers.map(({ token }) => token)).size).toBe(1);
  expect(broker.server.tokenRequests.slice(before)).toEqual(['refresh_token']);
});
