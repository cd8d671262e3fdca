import { randomUUID } from 'node:crypto';
import { PRINCIPAL_HEADER } from '@runyard/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestPeople } from './support/people.ts';
import { TestOrgAccess } from './support/platform.ts';

/**
 * Replays the requests of the Terraform provider for LangSmith, in its order: what it created has to be read back as it
 * was sent, or each further plan would show a difference. Its deployments are tested with control-plane.
 */
type Row = Record<string, unknown>;

let platform: TestOrgAccess;
beforeAll(async () => {
  platform = await TestOrgAccess.start();
});
afterAll(() => platform.close());

/** Sends a request as the provider does. Where it reads the answer, that has to be JSON and not empty. */
async function request(method: string, path: string, body?: unknown, workspaceId?: string) {
  const verified = await platform.verify(platform.bootstrap.api_key, workspaceId ? { workspace_id: workspaceId } : {});
  const answer = await fetch(platform.service.url + path, {
    method,
    headers: { [PRINCIPAL_HEADER]: verified.body.token, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, type: answer.headers.get('content-type') ?? '', text: await answer.text() };
}

async function read<Answer = Row>(method: string, path: string, body?: unknown, workspaceId?: string): Promise<Answer> {
  const { status, type, text } = await request(method, path, body, workspaceId);
  expect({ request: `${method} ${path}`, ok: status < 300, type, text }).toMatchObject({
    ok: true,
    type: expect.stringContaining('application/json'),
  });
  return JSON.parse(text) as Answer;
}

const send = async (method: string, path: string, body?: unknown, workspaceId?: string) =>
  expect((await request(method, path, body, workspaceId)).status, `${method} ${path}`).toBeLessThan(300);
const findById = (rows: Row[], id: unknown) => rows.find((row) => row.id === id);

describe('the Terraform provider', () => {
  it('keeps a workspace with a secret', async () => {
    const list = '/api/v1/workspaces?include_deleted=true';
    const sent = { display_name: "Team A's (new)", id: randomUUID(), tenant_handle: 'team-a' };
    const made = await read('POST', '/api/v1/workspaces', sent);
    expect(made).toMatchObject(sent);
    expect(made.data_plane_url ?? null).toBeNull();
    expect(findById(await read<Row[]>('GET', list), sent.id)).toMatchObject({ ...sent, is_deleted: false });
    const path = `/api/v1/workspaces/${sent.id}`;
    expect(await read('PATCH', path, { display_name: 'Renamed' }, sent.id)).toMatchObject({ display_name: 'Renamed' });

    const secrets = '/api/v1/workspaces/current/secrets';
    await send('POST', secrets, [{ key: 'MODEL_KEY', value: 'a' }], sent.id);
    expect(await read<Row[]>('GET', secrets, undefined, sent.id)).toMatchObject([{ key: 'MODEL_KEY' }]);
    await send('POST', secrets, [{ key: 'MODEL_KEY', value: null }], sent.id);
    expect(await read<Row[]>('GET', secrets, undefined, sent.id)).toEqual([]);

    await read('DELETE', path, undefined, sent.id);
    expect(findById(await read<Row[]>('GET', list), sent.id)?.is_deleted ?? true).toBe(true);
  });

  it('keeps a role, a policy and its attachment', async () => {
    const roles = '/api/v1/orgs/current/roles';
    const sent = {
      display_name: 'Deployer',
      description: '',
      permissions: ['workspaces:read', 'deployments:update', 'deployments:read'],
    };
    const { id } = await read('POST', roles, sent);
    const plan = async () => findById(await read<Row[]>('GET', roles), id);
    expect(await plan()).toMatchObject({ ...sent, access_scope: 'workspace' });
    const changed = { ...sent, permissions: ['deployments:read', 'workspaces:read'] };
    await read('PATCH', `${roles}/${id}`, changed);
    expect(await plan()).toMatchObject(changed);

    const base = '/api/v1/platform/orgs/current';
    const policy = {
      name: 'Production',
      description: '',
      effect: 'deny',
      condition_groups: [
        {
          resource_type: 'deployment',
          permission: 'deployments:delete',
          conditions: [
            {
              attribute_name: 'resource_tag_key',
              attribute_key: 'Environment',
              operator: 'not_matches_if_exists',
              attribute_value: 'dev*',
            },
          ],
        },
      ],
    };
    const made = await read('POST', `${base}/access-policies`, policy);
    const at = `${base}/access-policies/${made.id}`;
    expect(await read('GET', at)).toMatchObject({ ...policy, role_ids: [] });
    await send('POST', `${base}/roles/${id}/access-policies`, { access_policy_ids: [made.id] });
    expect(await read('GET', at)).toMatchObject({ role_ids: [id] });
    expect(await read('PATCH', at, { description: null })).toMatchObject({ description: null });

    await send('DELETE', `${base}/roles/${id}/access-policies?access_policy_ids=${made.id}`);
    await send('DELETE', at);
    expect((await request('GET', at)).status).toBe(404);
    await send('DELETE', `${roles}/${id}`);
    expect(await plan()).toBeUndefined();
  });

  it('keeps memberships of the organization: of a person who is invited, and of one who is active', async () => {
    const members = '/api/v1/orgs/current/members';
    const roles = await read<Row[]>('GET', '/api/v1/orgs/current/roles');
    const idOf = (name: string) => roles.find((role) => role.name === name)?.id as string;
    const listOf = (path: string, email: string) => {
      const query = new URLSearchParams({ emails: email, limit: '100', sort_by: 'created_at', sort_by_desc: 'true' });
      return read<Row[]>('GET', `${path}?${query}`);
    };
    const [invited, email] = ['invited@example.com', 'active@example.com'];
    expect(await listOf(`${members}/active`, invited)).toEqual([]);
    const made = await read('POST', members, { email: invited, role_id: idOf('ORGANIZATION_USER') });
    const [pending] = await listOf(`${members}/pending`, invited);
    expect(pending).toMatchObject({ id: made.id, email: invited });
    expect(pending?.role_id ?? pending?.org_role_id).toBe(idOf('ORGANIZATION_USER'));
    await send('DELETE', `${members}/${made.id}/pending`);
    expect(await listOf(`${members}/pending`, invited)).toEqual([]);

    const people = await TestPeople.open(platform);
    const person = await people.addPerson(email);
    const organizationRole = { roleId: idOf('ORGANIZATION_USER'), workspaceId: null };
    await people.addMember(person, platform.bootstrap.organization_id, [organizationRole]);
    await people.close();
    const active = async () => (await listOf(`${members}/active`, email))[0]!;
    const { id } = await active();
    expect(await active()).toMatchObject({ email, role_id: idOf('ORGANIZATION_USER'), is_disabled: false });
    await send('PATCH', `${members}/${id}`, { role_id: idOf('ORGANIZATION_VIEWER') });
    expect(await active()).toMatchObject({ id, role_id: idOf('ORGANIZATION_VIEWER') });

    await send('DELETE', `${members}/${id}`);
    expect(await listOf(`${members}/active`, email)).toEqual([]);
  });

  it('keeps a service key', async () => {
    const keys = '/api/v1/orgs/current/service-keys';
    const roles = await read<Row[]>('GET', '/api/v1/orgs/current/roles');
    const idOf = (name: string) => roles.find((role) => role.name === name)?.id;
    const sent = {
      description: 'CI',
      expires_at: '2099-01-01T00:00:00Z',
      workspaces: [platform.bootstrap.workspace_id],
    };
    const { key, ...made } = await read('POST', keys, sent);
    expect(key).toMatch(/^lsv2_sk_/);
    expect(made).toMatchObject({
      description: 'CI',
      access_scope: 'workspace',
      role_id: idOf('WORKSPACE_ADMIN'),
      org_role_id: null,
      workspace_names: ['Workspace 1'],
    });
    expect(Date.parse(made.expires_at as string)).toBe(Date.parse(sent.expires_at));
    const plan = async () => findById(await read<Row[]>('GET', keys), made.id);
    expect(await plan()).toEqual(made);
    await send('PATCH', `${keys}/${made.id}`, { role_id: idOf('WORKSPACE_VIEWER') });
    expect(await plan()).toEqual({ ...made, role_id: idOf('WORKSPACE_VIEWER') });
    await send('DELETE', `${keys}/${made.id}`);
    expect(await plan()).toBeUndefined();
    const wide = await read('POST', keys, { description: 'Wide' });
    expect(wide).toMatchObject({ org_role_id: idOf('ORGANIZATION_USER'), access_scope: 'organization' });
  });

  it('keeps tags and what they are on', async () => {
    const keys = '/api/v1/workspaces/current/tag-keys';
    const sent = { key: 'Team', description: null };
    const made = await read('POST', keys, sent);
    const { id } = made;
    expect(await read('GET', `${keys}/${id}`)).toEqual(made);
    const value = await read('POST', `${keys}/${id}/tag-values`, { value: 'red', description: '' });
    expect(await read('GET', `${keys}/${id}/tag-values/${value.id}`)).toEqual(value);
    const resource = { resource_type: 'deployment', resource_id: randomUUID() };
    const tagging = await read('POST', '/api/v1/workspaces/current/taggings', {
      tag_value_id: value.id,
      ...resource,
      id: '',
      created_at: '',
    });
    const query = new URLSearchParams(resource);
    const onResource = () => read<Row[]>('GET', `/api/v1/workspaces/current/tags/resource?${query}`);
    expect(await onResource()).toMatchObject([{ values: [{ id: value.id, taggings: [tagging] }] }]);
    await send('DELETE', `/api/v1/workspaces/current/taggings/${tagging.id}`);
    expect(await onResource()).toEqual([]);
    await send('DELETE', `${keys}/${id}`);
    expect((await request('GET', `${keys}/${id}`)).status).toBe(404);
    expect((await request('DELETE', `${keys}/${id}/tag-values/${value.id}`)).status).toBe(404);
  });

  it('reads its data sources, and finds no data planes', async () => {
    expect(await read('GET', '/api/v1/info')).toEqual({
      version: expect.any(String),
      license_expiration_time: null,
      batch_ingest_config: null,
      instance_flags: {},
    });
    expect(await read('GET', '/api/v1/orgs/current')).toMatchObject({ id: platform.bootstrap.organization_id });
    expect((await read<Row[]>('GET', '/api/v1/orgs/permissions'))[0]).toMatchObject({
      name: expect.any(String),
      description: expect.any(String),
      access_scope: expect.any(String),
    });
    for (const path of ['/api/v1/orgs/current/data-planes', `/api/v1/orgs/current/data-planes/${randomUUID()}`]) {
      const { status, type, text } = await request('GET', path);
      expect([status, type.includes('application/json')]).toEqual([404, true]);
      expect(JSON.parse(text)).toHaveProperty('detail');
    }
  });
});
