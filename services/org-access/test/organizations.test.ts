import type { BootstrapResponse, Organization, OrganizationInfo, Workspace } from '@runyard/contracts';
import { withDatabaseClient } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLATFORM_ROLES } from '../src/access/platform-roles.ts';
import { hashSecret } from '../src/database/hash-secret.ts';
import type { NewSession } from '../src/sign-in/sessions/open-session.ts';
import { TestPeople } from './support/people.ts';
import { TestOrgAccess } from './support/platform.ts';

const INFO = '/api/v1/organizations/current/info';

/** The address that org-access takes for its own without a variable. */
const PUBLIC_URL = 'http://localhost:2024';

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
      config: {},
      is_personal: false,
      tier: 'enterprise',
      reached_max_workspaces: false,
      permissions: ['organization:manage', 'organization:pats:create', 'organization:read'],
      disabled: false,
      member_disabled: false,
      sso_only: false,
      jit_provisioning_enabled: true,
      invites_enabled: true,
      effective: { jit_provisioning_enabled: true, invites_enabled: true },
      sso_login_slug: null,
      public_sharing_disabled: true,
      pat_creation_disabled: false,
      workspace_admin_can_invite_to_org: false,
      default_sso_provision: true,
      max_api_key_expiry_days: null,
      max_pat_expiry_days: null,
      max_service_key_expiry_days: null,
      security_contact: null,
      scim_group_name_separator: ':',
      ip_allowlist: [],
      ip_allowlist_enabled: false,
      addresses: {
        platform: PUBLIC_URL,
        scim: `${PUBLIC_URL}/scim/v2`,
        saml_consumer: `${PUBLIC_URL}/auth/v1/sso/saml/acs`,
        saml_entity_id: `${PUBLIC_URL}/auth/v1/sso/saml/metadata`,
        sso_login: null,
      },
    });
    expect(await platform.asAdmin('GET', '/v1/platform/orgs/current/info')).toEqual({ status, body });
    expect((await platform.asAdmin('GET', '/api/v1/orgs/current')).body).toMatchObject({
      id: platform.bootstrap.organization_id,
      display_name: 'Default',
      handle: null,
      created_at: expect.stringMatching(/Z$/),
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
    ['public_sharing_disabled', false],
    ['unshare_all', false],
    ['scim_group_name_separator', '/'],
    ['max_pat_expiry_days', -1],
  ])('refuse %s = %j with 422 and its location', async (field, value) => {
    expect(await platform.asAdmin('PATCH', INFO, { [field]: value })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', field], msg: expect.any(String), type: expect.any(String) }] },
    });
  });

  it('have limits, a contact and a separator; 0 and an empty text remove what is set', async () => {
    const patch = async (body: object) => (await platform.asAdmin<OrganizationInfo>('PATCH', INFO, body)).body;
    const set = { security_contact: ' security@example.com ', scim_group_name_separator: '&' };
    expect(await patch({ ...set, max_api_key_expiry_days: 30, unshare_all: true })).toMatchObject({
      security_contact: 'security@example.com',
      scim_group_name_separator: '&',
      max_api_key_expiry_days: 30,
      max_pat_expiry_days: 30,
      max_service_key_expiry_days: 30,
    });
    expect(await patch({ max_pat_expiry_days: 7 })).toMatchObject({
      max_api_key_expiry_days: 30,
      max_pat_expiry_days: 7,
    });
    expect(await patch({ max_api_key_expiry_days: 0, security_contact: '' })).toMatchObject({
      max_api_key_expiry_days: null,
      max_pat_expiry_days: null,
      security_contact: null,
    });
  });

  it('of which networks get in refuse what is no network, and what would lock the caller out', async () => {
    const patch = (body: object) => platform.asAdmin<OrganizationInfo>('PATCH', INFO, body);
    for (const bad of ['192.0.2.0/33', '192.0.2.1/24', 'example.com', '10.1', '2001:db8::1/64'])
      expect(await patch({ ip_allowlist: ['127.0.0.0/8', bad] }), bad).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ['body', 'ip_allowlist', 1] }] },
      });
    for (const lockingOut of [{ ip_allowlist: ['192.0.2.0/24'] }, { ip_allowlist: [], ip_allowlist_enabled: true }])
      expect(await patch(lockingOut)).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ['body', 'ip_allowlist'], msg: expect.stringContaining('127.0.0.1') }] },
      });
    expect((await patch({ ip_allowlist: ['192.0.2.0/24'], ip_allowlist_enabled: false })).status).toBe(200);
    expect((await patch({ ip_allowlist_enabled: true })).status).toBe(422);
    const list = ['127.0.0.0/8', '::1', '2001:db8::/32'];
    expect((await patch({ ip_allowlist: list })).body).toMatchObject({
      ip_allowlist: list,
      ip_allowlist_enabled: true,
    });
    expect((await patch({ ip_allowlist: [] })).body).toMatchObject({ ip_allowlist: [], ip_allowlist_enabled: false });
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

describe('organizations of a person', () => {
  const ORGS = '/api/v1/orgs';
  let people: TestPeople;
  beforeAll(async () => {
    people = await TestPeople.open(platform);
  });
  afterAll(() => people.close());

  /** Makes a person a member of the default organization, signed in. */
  async function signIn(roleId: string, session: Partial<NewSession> = {}) {
    const personId = await people.addPerson();
    const organizationId = platform.bootstrap.organization_id;
    await people.addMember(personId, organizationId, [{ workspaceId: null, roleId }]);
    const { token } = await people.signIn(personId, session);
    const call = <Body>(method: string, path: string, body?: unknown, inside = organizationId) =>
      platform.callAs<Body>({ token, organizationId: inside }, method, path, body);
    return { personId, token, call };
  }

  it('are listed to sessions alone, and not made unless the installation allows it', async () => {
    const ada = await signIn(PLATFORM_ROLES.organizationUser);
    const listed = await platform.callAs<Organization[]>({ token: ada.token }, 'GET', ORGS);
    expect(listed.body).toMatchObject([{ id: platform.bootstrap.organization_id, tier: null, sso_only: false }]);
    expect(await ada.call('GET', '/api/v1/organizations')).toEqual(listed);
    expect((await ada.call<Organization[]>('GET', `${ORGS}?include_tier=true`)).body[0]!.tier).toBe('enterprise');
    expect((await platform.asAdmin('GET', ORGS)).status).toBe(403);
    for (const is_personal of [true, false])
      expect((await ada.call('POST', ORGS, { display_name: 'Mine', is_personal })).status).toBe(403);
    const stranger = await people.signIn(await people.addPerson());
    expect((await platform.callAs(stranger, 'GET', ORGS)).body).toEqual([]);
  });

  it('are made with a workspace, its tag keys and an administrator where they are allowed, and personal ones once', async () => {
    const open = await TestOrgAccess.start({
      environment: { FF_ORG_CREATION_DISABLED: 'false', PERSONAL_ORGS_DISABLED: 'false' },
    });
    const persons = await TestPeople.open(open);
    try {
      const personId = await persons.addPerson();
      const { token } = await persons.signIn(personId);
      const made = await open.callAs<Organization>({ token }, 'POST', ORGS, {
        display_name: 'Acme',
        is_personal: false,
      });
      expect(made).toMatchObject({ status: 200, body: { display_name: 'Acme', default_sso_provision: false } });
      const organizationId = made.body.id;
      const info = await open.callAs<OrganizationInfo>({ token, organizationId }, 'GET', INFO);
      expect(info.body).toMatchObject({
        id: organizationId,
        permissions: expect.arrayContaining(['organization:manage']),
        // Neither switch works in an organization that is not the default one.
        effective: { jit_provisioning_enabled: false, invites_enabled: true },
      });
      await open.callAs({ token, organizationId }, 'PATCH', INFO, { invites_enabled: false });
      const after = await open.callAs<OrganizationInfo>({ token, organizationId }, 'GET', INFO);
      expect(after.body).toMatchObject({ invites_enabled: false, effective: { invites_enabled: true } });
      const workspaces = await open.callAs<Workspace[]>({ token, organizationId }, 'GET', '/api/v1/workspaces');
      expect(workspaces.body.map(({ display_name }) => display_name)).toEqual(['Workspace 1']);
      const keys = await persons.database.prisma.tagKey.findMany({
        where: { organizationId },
        orderBy: { key: 'asc' },
      });
      expect(keys.map(({ key }) => key)).toEqual(['Application', 'Environment']);

      const both = await Promise.all(
        [1, 2].map(() => open.callAs({ token }, 'POST', ORGS, { display_name: 'Me', is_personal: true })),
      );
      expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
      const other = await persons.signIn(await persons.addPerson());
      expect((await open.callAs(other, 'GET', `${ORGS}?skip_create=true`)).body).toEqual([]);
      const personal = await open.callAs<Organization[]>(other, 'GET', ORGS);
      expect(personal.body).toMatchObject([{ is_personal: true }]);
      const inside = { ...other, organizationId: personal.body[0]!.id };
      const invite = { email: 'guest@example.com' };
      expect((await open.callAs(inside, 'POST', `${ORGS}/current/members`, invite)).status).toBe(403);
    } finally {
      await persons.close();
      await open.close();
    }
  });

  it('require single sign-on once an administrator who signed in by it says so, whom nobody removes then', async () => {
    const organizationId = platform.bootstrap.organization_id;
    const { workspace_id: workspaceId } = platform.bootstrap;
    const login = `${ORGS}/current/login-methods`;
    const byPassword = await signIn(PLATFORM_ROLES.organizationAdmin);
    for (const answer of [
      await byPassword.call('PATCH', login, { sso_only: true }),
      await platform.asAdmin('PATCH', login, { sso_only: true }),
    ])
      expect(answer).toMatchObject({ status: 403, body: { detail: expect.stringContaining('single sign-on') } });
    const { id: providerId } = await people.database.prisma.ssoProvider.create({
      data: {
        ...{ id: crypto.randomUUID(), organizationId, protocol: 'oidc', displayName: 'IdP', configuration: {} },
        ...{ defaultWorkspaceRoleId: PLATFORM_ROLES.workspaceEditor, defaultWorkspaceIds: [workspaceId] },
      },
    });
    const sso = { organizationId, providerId, sessionId: null, subject: 'x', encryptedIdToken: null };
    const bySso = await signIn(PLATFORM_ROLES.organizationAdmin, { sso });
    await people.database.prisma.login.create({
      data: {
        ...{ id: crypto.randomUUID(), personId: bySso.personId, provider: 'custom-oidc', ssoProviderId: providerId },
        ...{ issuer: 'https://id.example.com', subject: 'x', email: 'x@example.com', provisioning: 'oidc:jit' },
      },
    });
    expect((await bySso.call<{ provider: string }[]>('GET', `${ORGS}/current/user/login-methods`)).body).toMatchObject([
      { provider: 'custom-oidc', provisioning: 'oidc:jit' },
    ]);
    expect((await platform.asAdmin('GET', `${ORGS}/current/user/login-methods`)).body).toEqual([]);
    expect(await bySso.call('PATCH', login, { sso_only: true })).toMatchObject({
      status: 200,
      body: { sso_only: true },
    });
    const members = await bySso.call<{ id: string; ls_user_id: string }[]>(
      'GET',
      `${ORGS}/current/members/active?limit=500`,
    );
    const self = members.body.find(({ ls_user_id }) => ls_user_id === bySso.personId)!;
    // The other administrator could not sign in any more.
    expect((await platform.asAdmin('DELETE', `${ORGS}/current/members/${self.id}`)).status).toBe(409);
    expect((await platform.verify(byPassword.token, { organization_id: organizationId })).status).toBe(403);
    expect((await platform.asAdmin('PATCH', login, { sso_only: false })).body).toMatchObject({ sso_only: false });
    expect((await platform.asAdmin('DELETE', `${ORGS}/current/members/${self.id}`)).status).toBe(200);
  });

  it('are made the default one by administrators of both', async () => {
    const { organizationId } = await people.addOrganization('Next default');
    const admin = PLATFORM_ROLES.organizationAdmin;
    const [both, one] = [await signIn(admin), await signIn(PLATFORM_ROLES.organizationUser)];
    for (const { personId } of [both, one])
      await people.addMember(personId, organizationId, [{ workspaceId: null, roleId: admin }]);
    const path = `${ORGS}/current/set-default-sso-provision`;
    const setDefault = async (person: typeof both, inside: string) => {
      const { token } = await people.signIn(person.personId);
      return platform.callAs({ token, organizationId: inside }, 'POST', path);
    };
    expect((await setDefault(one, organizationId)).status).toBe(403);
    // An identity provider of the other organization says that it is they.
    const { id: providerId } = await people.database.prisma.ssoProvider.create({
      data: {
        ...{ id: crypto.randomUUID(), organizationId, protocol: 'oidc', displayName: 'Its own', configuration: {} },
        ...{ defaultWorkspaceRoleId: PLATFORM_ROLES.workspaceEditor, defaultWorkspaceIds: [] },
      },
    });
    const sso = { organizationId, providerId, sessionId: null, subject: 'x', encryptedIdToken: null };
    const byProvider = await people.signIn(both.personId, { sso });
    const claimed = await platform.callAs({ token: byProvider.token, organizationId }, 'POST', path);
    expect(claimed.status).toBe(403);
    expect(await setDefault(both, organizationId)).toMatchObject({
      status: 200,
      body: { default_sso_provision: true },
    });
    const info = await platform.asAdmin<OrganizationInfo>('GET', INFO);
    expect(info.body).toMatchObject({ default_sso_provision: false, effective: { jit_provisioning_enabled: false } });
    const again = await platform.internal<BootstrapResponse>('/internal/bootstrap', {});
    expect(again.body).toMatchObject({ organization_id: platform.bootstrap.organization_id, api_key: null });
    expect((await setDefault(both, platform.bootstrap.organization_id)).status).toBe(200);
  });
});

/** Inserts an organization with a known key, because a key cannot sign up an organization. */
async function anotherOrganization(): Promise<{ organizationId: string; key: string }> {
  const { makeKey } = await import('../src/access/credentials/key-format.ts');
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
      [keyId, organizationId, identityId, Buffer.from(hashSecret(key))],
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
