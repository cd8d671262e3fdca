import type { OrganizationInfo, Workspace } from '@runyard/contracts';
import { withDatabaseClient } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLATFORM_ROLES } from '../src/access/platform-roles.ts';
import { TestOrgAccess } from './support/platform.ts';

const INFO = '/api/v1/organizations/current/info';

let platform: TestOrgAccess;
beforeAll(async () => {
  platform = await TestOrgAccess.start();
});
afterAll(() => platform.close());

describe('the settings of an organization', () => {
  it('initially have single sign-on provisioning and invites switched on', async () => {
    const { status, body } = await platform.asAdmin<OrganizationInfo>('GET', INFO);
    expect(status).toBe(200);
    expect(body).toEqual({
      id: platform.bootstrap.organization_id,
      display_name: 'Default',
      is_personal: false,
      jit_provisioning_enabled: true,
      invites_enabled: true,
      sso_login_slug: null,
      pat_creation_disabled: false,
      default_sso_provision: true,
      permissions: ['organization:manage', 'organization:pats:create', 'organization:read'],
    });
  });

  it('are the same under both paths, and persist over a restart', async () => {
    const changed = await platform.asAdmin<OrganizationInfo>('PATCH', INFO, {
      jit_provisioning_enabled: false,
      invites_enabled: false,
      display_name: 'Acme Labs',
    });
    expect(changed).toMatchObject({
      status: 200,
      body: { jit_provisioning_enabled: false, invites_enabled: false, display_name: 'Acme Labs' },
    });
    await platform.restart();
    const other = await platform.asAdmin<OrganizationInfo>('GET', '/api/v1/orgs/current/info');
    expect(other.body).toEqual(changed.body);
    const back = await platform.asAdmin<OrganizationInfo>('PATCH', '/api/v1/orgs/current/info', {
      invites_enabled: true,
    });
    expect(back.body).toMatchObject({ jit_provisioning_enabled: false, invites_enabled: true });
  });

  it('do not change where a field is null, missing or unknown', async () => {
    const before = await platform.asAdmin<OrganizationInfo>('GET', INFO);
    for (const body of [{}, { invites_enabled: null, display_name: null }, { favourite_colour: 'blue', id: 'x' }]) {
      expect(await platform.asAdmin('PATCH', INFO, body)).toEqual(before);
    }
  });

  it.each([
    ['invites_enabled', 'yes'],
    ['jit_provisioning_enabled', 1],
    ['display_name', ''],
    ['display_name', 'with/slash'],
  ])('refuse %s = %j with 422 and its location', async (field, value) => {
    expect(await platform.asAdmin('PATCH', INFO, { [field]: value })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', field], msg: expect.any(String), type: expect.any(String) }] },
    });
  });

  it('refuse a body that is no object', async () => {
    expect(await platform.asAdmin('PATCH', INFO, [1])).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body'] }] },
    });
  });

  it.each([
    ['user', PLATFORM_ROLES.organizationUser],
    ['viewer', PLATFORM_ROLES.organizationViewer],
  ])('are read but not changed by a key with the role %s', async (_, org_role_id) => {
    const { key } = await platform.issue({ org_role_id });
    expect((await platform.call(key, 'GET', INFO)).status).toBe(200);
    const before = (await platform.asAdmin('GET', INFO)).body;
    expect(await platform.call(key, 'PATCH', INFO, { invites_enabled: false })).toMatchObject({
      status: 403,
      body: { detail: expect.any(String) },
    });
    expect((await platform.asAdmin('GET', INFO)).body).toEqual(before);
  });

  it('are changed by another administrator key', async () => {
    const { key } = await platform.issue({ org_role_id: PLATFORM_ROLES.organizationAdmin });
    expect((await platform.call(key, 'PATCH', INFO, { invites_enabled: true })).status).toBe(200);
  });

  it('require a principal token: without one the answer is 401', async () => {
    expect((await fetch(platform.service.url + INFO)).status).toBe(401);
    const { body } = await platform.verify(platform.bootstrap.api_key, { audience: 'control-plane' });
    const answer = await fetch(platform.service.url + INFO, { headers: { 'x-runyard-principal': body.token } });
    expect(answer.status).toBe(401);
  });

  it('of two organizations are separate', async () => {
    const { key, organizationId } = await anotherOrganization();
    expect((await platform.call<OrganizationInfo>(key, 'GET', INFO)).body.id).toBe(organizationId);
    await platform.call(key, 'PATCH', INFO, { display_name: 'Elsewhere' });
    expect((await platform.asAdmin<OrganizationInfo>('GET', INFO)).body.display_name).not.toBe('Elsewhere');

    const ours = await platform.issue({ description: 'ours' });
    expect(await platform.list(key)).not.toContainEqual(expect.objectContaining({ id: ours.id }));
    expect((await platform.call(key, 'DELETE', `/api/v1/orgs/current/service-keys/${ours.id}`)).status).toBe(404);
    expect((await platform.verify(ours.key)).status).toBe(200);
    expect((await platform.verify(key, { workspace_id: platform.bootstrap.workspace_id })).status).toBe(403);
    const foreign = { workspaces: [platform.bootstrap.workspace_id] };
    expect((await platform.call(key, 'POST', '/api/v1/orgs/current/service-keys', foreign)).status).toBe(422);
  });
});

describe('workspaces', () => {
  it('are created by administrators and shown to those who reach them', async () => {
    const made = await platform.asAdmin<Workspace>('POST', '/api/v1/workspaces', { display_name: 'Research' });
    expect(made).toMatchObject({ status: 200, body: { display_name: 'Research' } });
    const limited = await platform.issue({ workspaces: [made.body.id] });
    const seen = await platform.call<Workspace[]>(limited.key, 'GET', '/api/v1/workspaces');
    expect(seen.body.map((workspace) => workspace.display_name)).toEqual(['Research']);
    expect((await platform.call(limited.key, 'POST', '/api/v1/workspaces', { display_name: 'x' })).status).toBe(403);
  });
});

describe('roles', () => {
  it('are listed, the most powerful first', async () => {
    const { body } = await platform.asAdmin<{ display_name: string }[]>('GET', '/api/v1/orgs/current/roles');
    expect(body.map((role) => role.display_name)).toEqual([
      'Organization Admin',
      'Organization Operator',
      'Organization User',
      'Organization Viewer',
      'Admin',
      'Editor',
      'User',
      'Viewer',
    ]);
  });
});

/** Inserts an organization with a known key, because a key cannot sign up an organization. */
async function anotherOrganization(): Promise<{ organizationId: string; key: string }> {
  const { makeKey, hashKey } = await import('../src/api-keys/key-format.ts');
  const [organizationId, identityId, keyId] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
  const key = makeKey('service_key');
  await withDatabaseClient(platform.database.url, async (client) => {
    await client.query("INSERT INTO organization (id, display_name) VALUES ($1, 'Another')", [organizationId]);
    await client.query(
      "INSERT INTO identity (id, organization_id, kind, name, organization_role_id) VALUES ($1, $2, 'service_account', 'x', $3)",
      [identityId, organizationId, PLATFORM_ROLES.organizationAdmin],
    );
    await client.query(
      `INSERT INTO api_key (id, organization_id, identity_id, kind, key_sha256, short_key, description)
       VALUES ($1, $2, $3, 'service_key', $4, 'x', 'x')`,
      [keyId, organizationId, identityId, Buffer.from(hashKey(key))],
    );
  });
  return { organizationId, key };
}

describe('the plan of an organization', () => {
  const ORGANIZATIONS = '/internal/organizations';

  it("is set by the platform's operators, and in force with the next token", async () => {
    const { organization_id: id, api_key } = platform.bootstrap;
    const planOf = async () => (await platform.verify(api_key)).body.claims.plan;
    expect(await planOf()).toBe('enterprise');
    const changed = await platform.internal(`${ORGANIZATIONS}/${id}/plan`, { plan: 'developer' }, { method: 'PUT' });
    expect(changed).toMatchObject({ status: 200, body: { id, plan: 'developer' } });
    expect((await platform.internal(ORGANIZATIONS, undefined, { method: 'GET' })).body).toContainEqual(changed.body);
    expect(await planOf()).toBe('developer');
  });

  it.each([
    ['another plan', (id: string) => `${id}/plan`, { plan: 'gold' }, 422],
    ['no plan', (id: string) => `${id}/plan`, {}, 422],
    ['an unknown organization', () => '0192f7a0-0000-7000-8000-000000000009/plan', { plan: 'plus' }, 404],
    ['something that is no id', () => 'acme/plan', { plan: 'plus' }, 422],
  ])('cannot be set to or for %s', async (_, path, body, status) => {
    const { organization_id: id } = platform.bootstrap;
    expect((await platform.internal(`${ORGANIZATIONS}/${path(id)}`, body, { method: 'PUT' })).status).toBe(status);
  });

  it("cannot be set by the organization's own administrators", async () => {
    const { organization_id: id } = platform.bootstrap;
    expect((await platform.asAdmin('PUT', `${ORGANIZATIONS}/${id}/plan`, { plan: 'enterprise' })).status).toBe(401);
  });

  it('is initially DEFAULT_ORGANIZATION_PLAN', async () => {
    const fresh = await TestOrgAccess.start({ environment: { DEFAULT_ORGANIZATION_PLAN: 'developer' } });
    try {
      expect((await fresh.verify(fresh.bootstrap.api_key)).body.claims.plan).toBe('developer');
    } finally {
      await fresh.close();
    }
  });
});
