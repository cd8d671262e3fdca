import type { IssuedScimToken, ScimToken } from '@runyard/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLATFORM_ROLES } from '../src/access/platform-roles.ts';
import { TestOrgAccess } from './support/platform.ts';

const TOKENS = '/v1/platform/orgs/current/scim/tokens';

let platform: TestOrgAccess;
beforeAll(async () => {
  platform = await TestOrgAccess.start();
});
afterAll(() => platform?.close());

const create = async (description: string, path = TOKENS) =>
  (await platform.asAdmin<IssuedScimToken>('POST', path, { description })).body;
const list = async () => (await platform.asAdmin<ScimToken[]>('GET', TOKENS)).body;

describe('SCIM tokens', () => {
  it('are valid several at once, described anew, listed without the secret and revoked one by one', async () => {
    const [first, second] = [await create('first'), await create('second', `/api${TOKENS}`)];
    expect(first.token).toMatch(/^ryscim_[0-9a-f]{64}$/);
    const changed = await platform.asAdmin<ScimToken>('PATCH', `${TOKENS}/${first.id}`, { description: 'old' });
    expect(changed.body).toMatchObject({ id: first.id, description: 'old', last_used_at: null });
    expect((await list()).map(({ id, description }) => [id, description])).toEqual([
      [second.id, 'second'],
      [first.id, 'old'],
    ]);
    expect((await platform.asAdmin('DELETE', `${TOKENS}/${first.id}`)).status).toBe(204);
    expect((await list()).map(({ id }) => id)).toEqual([second.id]);
    const gone = await platform.asAdmin('GET', `${TOKENS}/${first.id}`);
    expect(gone).toEqual({ status: 404, body: { error: 'SCIM token not found' } });
    expect(`${await platform.dump()}${platform.output()}`).not.toContain(first.token);
  });

  it('are recorded in the audit trail when they are made, described anew and revoked', async () => {
    const { id } = await create('recorded');
    await platform.asAdmin('PATCH', `${TOKENS}/${id}`, { description: 'again' });
    await platform.asAdmin('DELETE', `${TOKENS}/${id}`);
    const rows = (await platform.dump()).split('\n').map((row) => JSON.parse(row));
    const events = rows.filter((row) => row.resource_type === 'scim_token' && row.resource_id === id);
    expect(events.sort((a, b) => a.sequence - b.sequence).map(({ action }) => action)).toEqual([
      'scim_token.created',
      'scim_token.updated',
      'scim_token.revoked',
    ]);
  });

  it.each([
    ['a user', PLATFORM_ROLES.organizationUser],
    ['an operator', PLATFORM_ROLES.organizationOperator],
  ])('are shown to %s of the organization, who cannot make one', async (_, role) => {
    const { key } = await platform.issue({ org_role_id: role });
    expect((await platform.call(key, 'GET', TOKENS)).status).toBe(200);
    expect(await platform.call(key, 'POST', TOKENS, { description: 'x' })).toEqual({
      status: 403,
      body: { error: 'Only organization administrators manage SCIM tokens' },
    });
  });
});
