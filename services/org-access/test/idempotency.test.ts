import { randomUUID } from 'node:crypto';
import type { IssuedApiKey, Workspace } from '@runyard/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestOrgAccess } from './support/platform.ts';

const SERVICE_KEYS = '/api/v1/orgs/current/service-keys';

let platform: TestOrgAccess;
beforeAll(async () => {
  platform = await TestOrgAccess.start();
});
afterAll(() => platform.close());

function post<Body>(path: string, body: unknown, key: string, as = platform.bootstrap.api_key ?? '') {
  return platform.call<Body>(as, 'POST', path, body, undefined, { 'idempotency-key': key });
}

describe('a creation that is repeated with its key', () => {
  it.each([SERVICE_KEYS, '/api/v1/orgs/current/personal-access-tokens', '/api/v1/api-key'])(
    'at %s returns the same secret, creates no other one, and leaves it readable nowhere',
    async (path) => {
      const [key, description] = [randomUUID(), `once ${randomUUID()}`];
      const answers = await Promise.all(
        Array.from({ length: 6 }, () => post<IssuedApiKey>(path, { description }, key)),
      );
      await platform.restart();
      answers.push(await post<IssuedApiKey>(path, { description }, key));
      for (const answer of answers) expect(answer).toEqual(answers[0]);
      expect(answers[0]!.status).toBe(200);
      const listed = await platform.list(platform.bootstrap.api_key ?? '', path);
      expect(listed.filter((each) => each.description === description)).toHaveLength(1);
      expect(await platform.dump()).not.toContain(answers[0]!.body.key);
      expect((await platform.verify(answers[0]!.body.key)).status).toBe(200);
    },
  );

  it('belongs to its sender: another caller creates a key of their own', async () => {
    const [key, body] = [randomUUID(), { description: 'mine' }];
    const mine = await post<IssuedApiKey>('/api/v1/orgs/current/personal-access-tokens', body, key);
    const other = await platform.issue({ org_role_id: null });
    const theirs = await post<IssuedApiKey>('/api/v1/orgs/current/personal-access-tokens', body, key, other.key);
    expect(theirs.status).toBe(200);
    expect(theirs.body.key).not.toBe(mine.body.key);
  });

  it('creates one workspace', async () => {
    const key = randomUUID();
    const make = () => post<Workspace>('/api/v1/workspaces', { display_name: 'Once' }, key);
    const answers = await Promise.all([make(), make(), make()]);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(answers[0]).toMatchObject({ status: 200, body: { display_name: 'Once' } });
  });

  it('is refused with another body, or with an invalid key', async () => {
    const key = randomUUID();
    await post('/api/v1/workspaces', { display_name: 'One' }, key);
    for (const refused of [
      await post('/api/v1/workspaces', { display_name: 'Another' }, key),
      await post('/api/v1/workspaces', { display_name: 'Another' }, 'x'.repeat(256)),
    ]) {
      const detail = [{ loc: ['header', 'idempotency-key'], type: 'idempotency_key_error' }];
      expect(refused).toMatchObject({ status: 422, body: { detail } });
    }
  });

  it('is done if its first attempt was refused', async () => {
    const key = randomUUID();
    const expired = await post(SERVICE_KEYS, { expires_at: '2020-01-01T00:00:00Z' }, key);
    expect(expired.status).toBe(422);
    expect((await post(SERVICE_KEYS, { description: 'later' }, key)).status).toBe(200);
  });
});
