import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestPeople } from './support/people.ts';
import { TestOrgAccess } from './support/platform.ts';
import { type Row, TerraformProvider } from './support/terraform.ts';

/**
 * Replays the requests of the Terraform provider for LangSmith, in its order: what it created has to be read back as it
 * was sent, or each further plan would show a difference. Its deployments are replayed with control-plane.
 */
const ROLES = '/api/v1/orgs/current/roles';
const MEMBERS = '/api/v1/orgs/current/members';
const WORKSPACES = '/api/v1/workspaces';
const PLATFORM = '/api/v1/platform/orgs/current';

let platform: TestOrgAccess;
let provider: TerraformProvider;
let before: Record<string, number>;
/** Rows that stay when a resource is deleted, so that its id is never used again and the audit trail has its name. */
const kept: Record<string, number> = {};
function keep(table: string, rows = 1): void {
  kept[table] = (kept[table] ?? 0) + rows;
}

beforeAll(async () => {
  platform = await TestOrgAccess.start();
  provider = new TerraformProvider(platform);
  before = await provider.countRows();
});
afterAll(() => platform.close());

async function makeWorkspace(): Promise<string> {
  keep('workspace');
  return (await provider.read('POST', WORKSPACES, { display_name: 'Other' })).id as string;
}

const listByEmail = (path: string, email: string, workspaceId?: string) => {
  const query = new URLSearchParams({ emails: email, limit: '100', sort_by: 'created_at', sort_by_desc: 'true' });
  return provider.plan<Row[]>(`${path}?${query}`, workspaceId);
};

async function addMember(email: string): Promise<string> {
  const people = await TestPeople.open(platform);
  const person = await people.addPerson(email);
  keep('person');
  keep('identity');
  const role = { roleId: await provider.roleId('ORGANIZATION_USER'), workspaceId: null };
  const identity = await people.addMember(person, platform.bootstrap.organization_id, [role]);
  await people.close();
  return identity;
}

describe('the Terraform provider', () => {
  it('keeps a workspace', async () => {
    const list = `${WORKSPACES}?include_deleted=true`;
    const sent = { display_name: "Team A's (new)", id: randomUUID(), tenant_handle: 'team-a' };
    keep('workspace');
    const made = await provider.read('POST', WORKSPACES, sent);
    expect(made).toMatchObject(sent);
    expect(made.data_plane_url ?? null).toBeNull();
    expect(await provider.find(list, sent.id)).toEqual(made);
    const path = `${WORKSPACES}/${sent.id}`;
    const renamed = await provider.read('PATCH', path, { display_name: 'Renamed' }, sent.id);
    expect(renamed).toEqual({ ...made, display_name: 'Renamed' });
    expect(await provider.find(list, sent.id)).toEqual(renamed);

    await provider.expectRefused(409, 'team-a', ['POST', WORKSPACES, sent]);
    await provider.expectRefused(422, 'display_name', ['POST', WORKSPACES, { display_name: 'a/b' }]);
    await provider.read('DELETE', path, undefined, sent.id);
    expect((await provider.find(list, sent.id))?.is_deleted ?? true).toBe(true);
    await provider.expectGone([
      ['PATCH', path, { display_name: 'x' }],
      ['DELETE', path],
    ]);
  });

  it('keeps a secret', async () => {
    const workspace = await makeWorkspace();
    const secrets = `${WORKSPACES}/current/secrets`;
    const names = async () => (await provider.plan<Row[]>(secrets, workspace)).map(({ key }) => key);
    for (const value of ['a', 'b']) {
      await provider.send('POST', secrets, [{ key: 'MODEL_KEY', value }], workspace);
      expect(await names()).toEqual(['MODEL_KEY']);
    }
    // It deletes one that is gone in the same way.
    for (let again = 0; again < 2; again += 1) {
      await provider.send('POST', secrets, [{ key: 'MODEL_KEY', value: null }], workspace);
      expect(await names()).toEqual([]);
    }
    await provider.expectRefused(422, 'value', ['POST', secrets, [{ key: 'MODEL_KEY', value: 1 }]]);
    await provider.read('DELETE', `${WORKSPACES}/${workspace}`, undefined, workspace);
  });

  it('keeps a role', async () => {
    const sent = {
      display_name: 'Deployer',
      description: '',
      permissions: ['projects:read', 'workspaces:read', 'deployments:update', 'deployments:read'],
    };
    const { id, name } = await provider.read('POST', ROLES, sent);
    const plan = () => provider.find(ROLES, id);
    expect(await plan()).toMatchObject({ ...sent, access_scope: 'workspace', name });
    const changed = {
      display_name: 'Reader',
      description: 'Reads',
      permissions: ['deployments:read', 'workspaces:read'],
    };
    // It plans the name of a renamed role as it was.
    expect(await provider.read('PATCH', `${ROLES}/${id}`, changed)).toMatchObject({ ...changed, name });
    expect(await plan()).toMatchObject({ ...changed, name });
    const unknown = { ...sent, display_name: 'Other', permissions: ['coffee:make'] };
    await provider.expectRefused(422, 'permissions', ['POST', ROLES, unknown]);
    await provider.send('DELETE', `${ROLES}/${id}`);
    expect(await plan()).toBeUndefined();
    await provider.expectGone([
      ['PATCH', `${ROLES}/${id}`, changed],
      ['DELETE', `${ROLES}/${id}`],
    ]);
  });

  it('keeps a policy and its attachment', async () => {
    const { id: role } = await provider.read('POST', ROLES, {
      display_name: 'Bound',
      description: '',
      permissions: [],
    });
    const condition = (operator: string, attribute_key: string) => ({
      attribute_name: 'resource_tag_key',
      attribute_key,
      operator,
      attribute_value: 'Dev*',
    });
    const operators = ['equals', 'equals_ignore_case', 'matches'].flatMap((operator) =>
      [operator, `not_${operator}`].flatMap((each) => [each, `${each}_if_exists`]),
    );
    const types = ['queue', 'dataset', 'deployment', 'fleet_integration', 'mcp_server', 'project', 'prompt', 'sandbox'];
    const policy = {
      name: 'Production',
      description: '',
      effect: 'deny',
      condition_groups: [
        {
          resource_type: 'deployment',
          permission: 'deployments:delete',
          conditions: operators.map((operator) => condition(operator, 'Environment')),
        },
        ...types
          .filter((type) => type !== 'deployment')
          .map((resource_type) => ({
            resource_type,
            permission: `${resource_type}s:read`,
            conditions: [condition('equals', 'Team')],
          })),
      ],
    };
    const made = await provider.read('POST', `${PLATFORM}/access-policies`, policy);
    const at = `${PLATFORM}/access-policies/${made.id}`;
    expect(await provider.plan(at)).toMatchObject({ ...policy, role_ids: [] });
    for (const attachments of [
      `${PLATFORM}/roles/${role}/access-policies`,
      `${PLATFORM}/access-policies/roles/${role}/access-policies`,
    ]) {
      await provider.send('POST', attachments, { access_policy_ids: [made.id] });
      expect(await provider.plan(at)).toMatchObject({ role_ids: [role] });
      await provider.send('DELETE', `${attachments}?access_policy_ids=${made.id}`);
      expect(await provider.plan(at)).toMatchObject({ role_ids: [] });
    }
    const changed = { ...policy, name: 'Prod', effect: 'allow', condition_groups: policy.condition_groups.slice(0, 1) };
    expect(await provider.read('PATCH', at, { ...changed, description: null })).toMatchObject({ description: null });
    expect(await provider.plan(at)).toMatchObject({ ...changed, description: null });

    await provider.expectRefused(422, 'effect', [
      'POST',
      `${PLATFORM}/access-policies`,
      { ...policy, effect: 'maybe' },
    ]);
    await provider.send('POST', `${PLATFORM}/roles/${role}/access-policies`, { access_policy_ids: [made.id] });
    await provider.send('DELETE', at);
    await provider.expectGone([
      ['GET', at],
      ['PATCH', at, { name: 'x' }],
      ['DELETE', at],
      ['POST', `${PLATFORM}/roles/${role}/access-policies`, { access_policy_ids: [made.id] }],
      ['DELETE', `${PLATFORM}/roles/${role}/access-policies?access_policy_ids=${made.id}`],
    ]);
    await provider.send('DELETE', `${ROLES}/${role}`);
  });

  it('keeps memberships of the organization: of a person who is invited, and of one who is active', async () => {
    const [user, viewer] = [await provider.roleId('ORGANIZATION_USER'), await provider.roleId('ORGANIZATION_VIEWER')];
    const [invited, email] = ['invited@example.com', 'active@example.com'];
    expect(await listByEmail(`${MEMBERS}/active`, invited)).toEqual([]);
    const pendingRole = async () => {
      const [pending] = await listByEmail(`${MEMBERS}/pending`, invited);
      return { id: pending?.id, role: pending?.role_id ?? pending?.org_role_id };
    };
    keep('invite', 2);
    let { id } = await provider.read('POST', MEMBERS, { email: invited, role_id: user });
    expect(await pendingRole()).toEqual({ id, role: user });
    // Another role: it withdraws the invite and makes one.
    await provider.send('DELETE', `${MEMBERS}/${id}/pending`);
    ({ id } = await provider.read('POST', MEMBERS, { email: invited, role_id: viewer }));
    expect(await pendingRole()).toEqual({ id, role: viewer });
    await provider.send('DELETE', `${MEMBERS}/${id}/pending`);
    expect(await listByEmail(`${MEMBERS}/pending`, invited)).toEqual([]);

    await addMember(email);
    const active = async () => (await listByEmail(`${MEMBERS}/active`, email))[0]!;
    const member = await active();
    expect(member).toMatchObject({ email, role_id: user, is_disabled: false });
    await provider.expectRefused(409, email, ['POST', MEMBERS, { email, role_id: user }]);
    await provider.send('PATCH', `${MEMBERS}/${member.id}`, { role_id: viewer });
    expect(await active()).toMatchObject({ id: member.id, role_id: viewer });
    await provider.send('DELETE', `${MEMBERS}/${member.id}`);
    expect(await listByEmail(`${MEMBERS}/active`, email)).toEqual([]);
    await provider.expectGone([
      ['PATCH', `${MEMBERS}/${member.id}`, { role_id: viewer }],
      ['DELETE', `${MEMBERS}/${member.id}`],
      ['DELETE', `${MEMBERS}/${id}/pending`],
    ]);
  });

  it('keeps memberships of a workspace', async () => {
    const members = `${WORKSPACES}/current/members`;
    const [workspace, email] = [await makeWorkspace(), 'member@example.com'];
    const [editor, viewer] = [await provider.roleId('WORKSPACE_USER'), await provider.roleId('WORKSPACE_VIEWER')];
    await addMember(email);
    const [person] = await listByEmail(`${MEMBERS}/active`, email);
    for (const list of ['active', 'pending']) {
      expect(await listByEmail(`${members}/${list}`, email, workspace)).toEqual([]);
    }
    const made = await provider.read('POST', members, { org_identity_id: person!.id, role_id: editor }, workspace);
    const active = async () => (await listByEmail(`${members}/active`, email, workspace))[0]!;
    expect(await active()).toMatchObject({ id: made.id, email, role_id: editor });
    await provider.send('PATCH', `${members}/${made.id}`, { role_id: viewer }, workspace);
    expect(await active()).toMatchObject({ id: made.id, role_id: viewer });
    await provider.send('DELETE', `${members}/${made.id}`, undefined, workspace);
    expect(await active()).toBeUndefined();
    provider.workspaceId = workspace;
    await provider.expectGone([
      ['PATCH', `${members}/${made.id}`, { role_id: viewer }],
      ['DELETE', `${members}/${made.id}`],
    ]);
    provider.workspaceId = undefined;
    const nobody = { org_identity_id: randomUUID(), role_id: viewer };
    await provider.expectRefused(422, 'org_identity_id', ['POST', members, nobody]);
    await provider.send('DELETE', `${MEMBERS}/${person!.id}`);
    await provider.read('DELETE', `${WORKSPACES}/${workspace}`, undefined, workspace);
  });

  it('keeps a service key', async () => {
    const keys = '/api/v1/orgs/current/service-keys';
    const [admin, viewer] = [await provider.roleId('WORKSPACE_ADMIN'), await provider.roleId('WORKSPACE_VIEWER')];
    const second = await makeWorkspace();
    const workspaces = [second, platform.bootstrap.workspace_id];
    keep('api_key', 3);
    keep('identity', 3);
    const sent = { description: 'CI', expires_at: '2099-01-01T00:00:00Z', workspaces };
    const { key, ...made } = await provider.read('POST', keys, sent);
    expect(key).toMatch(/^lsv2_sk_/);
    expect(made).toMatchObject({
      description: 'CI',
      access_scope: 'workspace',
      role_id: admin,
      org_role_id: null,
      workspace_names: ['Other', 'Workspace 1'],
    });
    expect(Date.parse(made.expires_at as string)).toBe(Date.parse(sent.expires_at));
    const plan = (id = made.id) => provider.find(keys, id);
    expect(await plan()).toEqual(made);
    await provider.send('PATCH', `${keys}/${made.id}`, { role_id: viewer });
    expect(await plan()).toEqual({ ...made, role_id: viewer });
    await provider.send('DELETE', `${keys}/${made.id}`);
    expect(await plan()).toBeUndefined();
    await provider.expectGone([
      ['PATCH', `${keys}/${made.id}`, { role_id: viewer }],
      ['DELETE', `${keys}/${made.id}`],
    ]);
    const { key: _, ...wide } = await provider.read('POST', keys, { description: 'Wide' });
    expect(wide).toMatchObject({
      description: 'Wide',
      expires_at: null,
      org_role_id: await provider.roleId('ORGANIZATION_USER'),
      access_scope: 'organization',
    });
    expect(await plan(wide.id)).toEqual(wide);
    await provider.send('DELETE', `${keys}/${wide.id}`);
    const { key: __, ...nameless } = await provider.read('POST', keys, { description: '' });
    expect(nameless.description).toBe('');
    expect(await plan(nameless.id)).toEqual(nameless);
    await provider.send('DELETE', `${keys}/${nameless.id}`);
    await provider.expectRefused(422, 'workspaces', ['POST', keys, { description: 'x', workspaces: [randomUUID()] }]);
    await provider.expectRefused(422, 'expires_at', [
      'POST',
      keys,
      { description: 'x', expires_at: '2000-01-01T00:00:00Z' },
    ]);
    await provider.read('DELETE', `${WORKSPACES}/${second}`, undefined, second);
  });

  it('keeps tags and what they are on', async () => {
    const keys = `${WORKSPACES}/current/tag-keys`;
    const key = await provider.read('POST', keys, { key: 'Team', description: null });
    const at = `${keys}/${key.id}`;
    expect(await provider.plan(at)).toEqual(key);
    const value = await provider.read('POST', `${at}/tag-values`, { value: 'red', description: '' });
    const valueAt = `${at}/tag-values/${value.id}`;
    expect(await provider.plan(valueAt)).toEqual(value);
    expect(value).toMatchObject({ value: 'red', description: '', tag_key_id: key.id });
    for (const [path, change] of [
      [at, { key: 'TEAM', description: 'x' }],
      [valueAt, { value: 'Red', description: null }],
    ] as const) {
      const changed = await provider.read('PATCH', path, change);
      expect(changed).toMatchObject(change);
      expect(await provider.plan(path)).toEqual(changed);
    }
    await provider.expectRefused(409, 'TEAM', ['POST', keys, { key: 'TEAM', description: null }]);

    const resource = { resource_type: 'deployment', resource_id: randomUUID() };
    const sent = { tag_value_id: value.id, ...resource, id: '', created_at: '' };
    const tag = () => provider.read('POST', `${WORKSPACES}/current/taggings`, sent);
    const onResource = () =>
      provider.plan<Row[]>(`${WORKSPACES}/current/tags/resource?${new URLSearchParams(resource)}`);
    const tagging = await tag();
    expect(await onResource()).toMatchObject([{ values: [{ id: value.id, taggings: [tagging] }] }]);
    await provider.send('DELETE', `${WORKSPACES}/current/taggings/${tagging.id}`);
    expect(await onResource()).toEqual([]);
    const second = await tag();
    await provider.send('DELETE', at);
    expect(await onResource()).toEqual([]);
    await provider.expectGone([
      ['GET', at],
      ['PATCH', at, { key: 'x', description: null }],
      ['DELETE', at],
      ['GET', valueAt],
      ['PATCH', valueAt, { value: 'x', description: null }],
      ['DELETE', valueAt],
      ['DELETE', `${WORKSPACES}/current/taggings/${second.id}`],
      ['POST', `${WORKSPACES}/current/taggings`, sent],
    ]);
  });

  it('reads its data sources, and finds no data planes', async () => {
    expect(await provider.plan('/api/v1/info')).toEqual({
      version: expect.any(String),
      license_expiration_time: null,
      batch_ingest_config: null,
      instance_flags: {},
    });
    const organization = await provider.plan('/api/v1/orgs/current');
    expect(organization.id).toBe(platform.bootstrap.organization_id);
    expect(organization.created_at ?? '2026-01-01T00:00:00Z').toMatch(/Z$|[+-]\d\d:\d\d$/);
    expect(await provider.plan<Row[]>(WORKSPACES)).toMatchObject([{ id: platform.bootstrap.workspace_id }]);
    for (const name of ['ORGANIZATION_ADMIN', 'ORGANIZATION_VIEWER', 'WORKSPACE_EDITOR']) await provider.roleId(name);
    expect((await provider.plan<Row[]>('/api/v1/orgs/permissions'))[0]).toMatchObject({
      name: expect.any(String),
      description: expect.any(String),
      access_scope: expect.any(String),
    });
    for (const path of ['/api/v1/orgs/current/data-planes', `/api/v1/orgs/current/data-planes/${randomUUID()}`]) {
      await provider.expectRefused(404, 'detail', ['GET', path]);
    }
  });

  it('has left nothing when all is destroyed', async () => {
    const expected = Object.fromEntries(
      Object.entries(before).map(([table, rows]) => [table, rows + (kept[table] ?? 0)]),
    );
    expect(await provider.countRows()).toEqual(expected);
  });
});
