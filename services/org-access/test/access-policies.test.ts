import { randomUUID } from 'node:crypto';
import {
  type AccessDecisions,
  type AccessExplanation,
  type AccessPolicy,
  type IssuedApiKey,
  PRINCIPAL_HEADER,
  type ResourceTag,
  type Role,
  type Tagging,
  type TagKey,
  type TagKeyWithValues,
  type TagValue,
  WORKSPACE_PERMISSIONS,
  type Workspace,
} from '@runyard/contracts';
import { createEventBus } from '@runyard/event-bus';
import { silentLogger } from '@runyard/service-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLATFORM_ROLES } from '../src/access/platform-roles.ts';
import { whileLocked } from './support/locked-rows.ts';
import { TestPeople } from './support/people.ts';
import { TestOrgAccess } from './support/platform.ts';

const BASES = ['/api/v1/platform/orgs/current', '/v1/platform/orgs/current'] as const;
const [BASE] = BASES;
const POLICIES = `${BASE}/access-policies`;
const MISSING = '00000000-0000-4000-8000-000000000000';

let platform: TestOrgAccess;
beforeAll(async () => {
  platform = await TestOrgAccess.start();
});
afterAll(() => platform.close());

const group = (permission: string, operator = 'equals', attribute_value = 'production') => ({
  resource_type: 'deployment',
  permission,
  conditions: [{ attribute_name: 'resource_tag_key', attribute_key: 'Stage', operator, attribute_value }],
});
const makeBody = (change: object = {}) => ({
  name: `policy ${randomUUID()}`,
  description: '',
  effect: 'deny',
  condition_groups: [group('deployments:delete')],
  ...change,
});
async function make(change: object = {}): Promise<AccessPolicy> {
  const { status, body } = await platform.asAdmin<AccessPolicy>('POST', POLICIES, makeBody(change));
  expect(status).toBe(201);
  return body;
}

describe('an access policy', () => {
  it.each(BASES)('is made, read, changed, listed and deleted below %s, as it was sent', async (base) => {
    const body = makeBody({
      description: 'Keeps production',
      condition_groups: [group('runs:create', 'not_matches', 'p*')],
    });
    const created = await platform.asAdmin<AccessPolicy>('POST', `${base}/access-policies`, body);
    expect(created).toMatchObject({ status: 201, body: { ...body, role_ids: [] } });
    const path = `${base}/access-policies/${created.body.id}`;
    expect((await platform.asAdmin('GET', path)).body).toEqual(created.body);
    const changed = await platform.asAdmin<AccessPolicy>('PATCH', path, { description: null, effect: 'allow' });
    expect(changed.body).toMatchObject({ ...body, description: null, effect: 'allow' });
    const list = await platform.asAdmin<{ access_policies: AccessPolicy[] }>('GET', `${base}/access-policies`);
    expect(list.body.access_policies).toContainEqual(changed.body);
    expect(await platform.asAdmin('POST', `${base}/access-policies`, body)).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining('already exists') },
    });
    expect(await platform.asAdmin('DELETE', path)).toEqual({ status: 204, body: undefined });
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const gone = await platform.asAdmin(method, path, method === 'PATCH' ? {} : undefined);
      expect(gone).toEqual({ status: 404, body: { error: 'Access policy not found' } });
    }
  });

  it.each(['roles/{role}/access-policies', 'access-policies/roles/{role}/access-policies'])(
    'is attached and detached at %s, and says to which roles',
    async (path) => {
      const policy = await make();
      for (const base of BASES) {
        const at = `${base}/${path.replace('{role}', PLATFORM_ROLES.workspaceUser)}`;
        const ids = { access_policy_ids: [policy.id] };
        for (let repeated = 0; repeated < 2; repeated++)
          expect((await platform.asAdmin('POST', at, ids)).status).toBe(204);
        const read = async () =>
          (await platform.asAdmin<AccessPolicy>('GET', `${POLICIES}/${policy.id}`)).body.role_ids;
        expect(await read()).toEqual([PLATFORM_ROLES.workspaceUser]);
        expect((await platform.asAdmin('DELETE', `${at}?access_policy_ids=${policy.id}`)).status).toBe(204);
        expect(await read()).toEqual([]);
        expect((await platform.asAdmin('POST', at, { access_policy_ids: [MISSING] })).status).toBe(404);
        const nowhere = at.replace(PLATFORM_ROLES.workspaceUser, MISSING);
        expect(await platform.asAdmin('POST', nowhere, ids)).toEqual({
          status: 404,
          body: { error: 'Role not found' },
        });
      }
      expect((await make({ role_ids: [PLATFORM_ROLES.workspaceUser] })).role_ids).toEqual([
        PLATFORM_ROLES.workspaceUser,
      ]);
    },
  );

  it('is attached to no role that is deleted at the same time', async () => {
    const people = await TestPeople.open(platform);
    const policy = await make();
    const requests = [
      ['POST', () => POLICIES, (roleId: string) => makeBody({ role_ids: [roleId] }), 422],
      ['PATCH', () => `${POLICIES}/${policy.id}`, (roleId: string) => ({ role_ids: [roleId] }), 422],
      [
        'POST',
        (roleId: string) => `${BASE}/roles/${roleId}/access-policies`,
        () => ({ access_policy_ids: [policy.id] }),
        404,
      ],
    ] as const;
    try {
      for (const [method, path, body, status] of requests) {
        const role = { display_name: randomUUID(), description: '', permissions: ['deployments:read'] };
        const { id } = (await platform.asAdmin<Role>('POST', '/api/v1/orgs/current/roles', role)).body;
        const { sent } = await whileLocked(people, { table: 'role', value: id }, async ({ transaction, waiting }) => {
          const sent = platform.asAdmin<{ error?: string; detail?: unknown }>(method, path(id), body(id));
          await waiting(1);
          await transaction.role.delete({ where: { id } });
          return { sent };
        });
        const answer = await sent;
        expect(answer.status, `${method} ${path(id)}`).toBe(status);
        expect(JSON.stringify(answer.body)).toMatch(/There is no such role|Role not found/);
      }
    } finally {
      await people.close();
    }
  });

  it('is refused with a condition that could never be asked', async () => {
    for (const change of [
      { condition_groups: [] },
      { condition_groups: [{ ...group('deployments:read'), conditions: [] }] },
      { condition_groups: [group('deployments:create')] },
      { condition_groups: [{ ...group('deployments:read'), resource_type: 'workspace' }] },
      { condition_groups: [{ ...group('workspaces:read'), resource_type: 'service_key' }] },
      { condition_groups: [group('deployments:read', 'resembles')] },
      { condition_groups: [{ ...group('deployments:read'), resource_type: 'house' }] },
      { effect: 'perhaps' },
      { role_ids: [MISSING] },
      { unknown: true },
    ]) {
      expect(await platform.asAdmin('POST', POLICIES, makeBody(change)), JSON.stringify(change)).toMatchObject({
        status: 422,
      });
    }
  });

  it('is changed by organization administrators alone, and read by members', async () => {
    const operator = await platform.issue({ org_role_id: PLATFORM_ROLES.organizationOperator });
    const user = await platform.issue();
    const policy = await make();
    for (const { key } of [operator, user]) {
      expect(await platform.call(key, 'POST', POLICIES, makeBody())).toEqual({
        status: 403,
        body: { error: 'Only organization administrators change access policies' },
      });
      expect((await platform.call(key, 'GET', `${POLICIES}/${policy.id}`)).status).toBe(200);
    }
  });
});

describe('what a caller may do on a deployment', () => {
  const [production, staging, untagged] = [randomUUID(), randomUUID(), randomUUID()];
  let editor: IssuedApiKey;
  let attached: AccessPolicy[] = [];
  const current = '/api/v1/workspaces/current';

  beforeAll(async () => {
    const key = (await platform.asAdmin<TagKey>('POST', `${current}/tag-keys`, { key: 'Stage' })).body;
    for (const [value, resource_id] of [
      ['production', production],
      ['staging', staging],
    ]) {
      const { id } = (await platform.asAdmin<TagValue>('POST', `${current}/tag-keys/${key.id}/tag-values`, { value }))
        .body;
      const body = { tag_value_id: id, resource_type: 'deployment', resource_id };
      expect((await platform.asAdmin<Tagging>('POST', `${current}/taggings`, body)).status).toBe(200);
    }
    editor = await platform.issue({
      workspaces: [platform.bootstrap.workspace_id],
      role_id: PLATFORM_ROLES.workspaceEditor,
    });
  });

  async function attach(...policies: object[]): Promise<void> {
    for (const { id } of attached) await platform.asAdmin('DELETE', `${POLICIES}/${id}`);
    attached = await Promise.all(policies.map((each) => make({ role_ids: [PLATFORM_ROLES.workspaceEditor], ...each })));
  }
  const claimsFor = async (audience: string, key = editor.key) =>
    (await platform.verify(key, { audience, workspace_id: platform.bootstrap.workspace_id })).body.claims;
  const mayRun = async (id: string) => (await claimsFor(`deployment:${id}`)).permissions.includes('runs:create');
  const onAll = async () => [await mayRun(production), await mayRun(staging), await mayRun(untagged)];

  it('follows from the policies of its roles and the tags, from the next check on', async () => {
    expect(await onAll()).toEqual([true, true, true]);
    await attach({ effect: 'deny', condition_groups: [group('runs:create')] });
    expect(await onAll()).toEqual([false, true, true]);
    // An allow for others takes nothing away that the role gives.
    await attach({ effect: 'allow', condition_groups: [group('runs:create', 'equals', 'staging')] });
    expect(await onAll()).toEqual([true, true, true]);
    await attach(
      { effect: 'allow', condition_groups: [group('runs:create', 'matches', '*')] },
      { effect: 'deny', condition_groups: [group('runs:create', 'matches_if_exists', 'prod*')] },
    );
    expect(await onAll()).toEqual([false, true, false]);
    await attach();
    expect(await onAll()).toEqual([true, true, true]);
  });

  it('is not changed by those whom it concerns, who could take the tag off or put another on', async () => {
    const current = '/api/v1/workspaces/current';
    const { body: custom } = await platform.asAdmin<Role>('POST', '/api/v1/orgs/current/roles', {
      display_name: `Tagger ${randomUUID()}`,
      description: '',
      permissions: ['workspaces:read', 'workspaces:manage', 'deployments:read', 'deployments:update'],
    });
    const tagger = await platform.issue({ workspaces: [platform.bootstrap.workspace_id], role_id: custom.id });
    const call = <Body>(method: string, path: string, body?: unknown) =>
      platform.call<Body>(tagger.key, method, current + path, body, platform.bootstrap.workspace_id);
    const { body: own } = await call<TagKey>('POST', '/tag-keys', { key: `Team ${randomUUID()}` });
    await attach({ role_ids: [custom.id], effect: 'deny', condition_groups: [group('deployments:update')] });
    const { body: keys } = await call<TagKeyWithValues[]>('GET', '/tags');
    const named = keys.find(({ key }) => key === group('deployments:update').conditions[0]!.attribute_key)!;
    const value = named.values[0]!;
    const { body: taggings } = await call<Tagging[]>('GET', `/taggings?tag_value_id=${value.id}`);
    const tagging = { tag_value_id: value.id, resource_type: 'deployment', resource_id: untagged };
    const refused: [string, string, unknown?][] = [
      ['DELETE', `/taggings/${taggings[0]!.id}`],
      ['POST', '/taggings', tagging],
      ['PATCH', `/tag-keys/${named.id}`, { key: 'Renamed' }],
      ['PATCH', `/tag-keys/${own.id}`, { key: named.key }],
      ['DELETE', `/tag-keys/${named.id}`],
      ['POST', `/tag-keys/${named.id}/tag-values`, { value: 'other' }],
      ['PATCH', `/tag-keys/${named.id}/tag-values/${value.id}`, { value: 'other' }],
      ['DELETE', `/tag-keys/${named.id}/tag-values/${value.id}`],
    ];
    for (const [method, path, body] of refused) {
      expect(await call(method, path, body), `${method} ${path}`).toMatchObject({ status: 403 });
    }
    expect((await call('PATCH', `/tag-keys/${own.id}`, { description: 'free' })).status).toBe(200);
    expect((await call('DELETE', `/tag-keys/${own.id}`)).status).toBe(200);
    await attach();
    expect((await call('PATCH', `/tag-keys/${named.id}`, { description: 'free again' })).status).toBe(200);
  });

  it('is more than its roles give where a policy allows it, and of a read-only key only reading', async () => {
    const workspaces = [platform.bootstrap.workspace_id];
    const [viewer, reader] = await Promise.all(
      [false, true].map((read_only) =>
        platform.issue({
          workspaces,
          role_id: PLATFORM_ROLES.workspaceViewer,
          org_role_id: PLATFORM_ROLES.organizationViewer,
          read_only,
        }),
      ),
    );
    const canOn = async (id: string, permission: string, { key }: IssuedApiKey = viewer!) =>
      (await claimsFor(`deployment:${id}`, key)).permissions.includes(permission);
    const viewers = { role_ids: [PLATFORM_ROLES.workspaceViewer], effect: 'allow' };
    await attach({
      ...viewers,
      condition_groups: [group('runs:create', 'equals', 'staging'), group('deployments:update', 'equals', 'staging')],
    });
    expect([await canOn(staging, 'runs:create'), await canOn(production, 'runs:create')]).toEqual([true, false]);
    expect(await canOn(staging, 'runs:create', reader)).toBe(false);
    expect(await canOn(staging, 'runs:create', editor)).toBe(true);
    const claims = await claimsFor('control-plane', viewer!.key);
    expect(claims.permissions).not.toContain('deployments:update');
    expect(claims.permissions_by_policy).toEqual(['deployments:update', 'runs:create']);
    expect((await claimsFor('control-plane', reader!.key)).permissions_by_policy).toEqual([]);
    // A deny wins over an allow, for each of the deployments that both match.
    await attach(
      { ...viewers, condition_groups: [group('runs:create', 'matches', '*')] },
      { ...viewers, effect: 'deny', condition_groups: [group('runs:create')] },
    );
    expect([await canOn(staging, 'runs:create'), await canOn(production, 'runs:create')]).toEqual([true, false]);
    await attach();
    expect(await canOn(staging, 'runs:create')).toBe(false);
  });

  it('is asked about by control-plane and run-history, for callers whom a policy concerns', async () => {
    const { organization_id, workspace_id } = platform.bootstrap;
    expect((await claimsFor('control-plane')).bounded_by_policies).toBeUndefined();
    await attach({ condition_groups: [group('deployments:update'), group('deployments:read', 'equals', 'staging')] });
    const claims = await claimsFor('control-plane');
    expect(claims).toMatchObject({
      bounded_by_policies: true,
      permissions: expect.arrayContaining(['deployments:update']),
    });
    expect((await claimsFor('run-history')).bounded_by_policies).toBe(true);
    expect((await claimsFor('control-plane', platform.bootstrap.api_key)).bounded_by_policies).toBeUndefined();
    const decide = async (identity_id: string) =>
      (
        await platform.internal<AccessDecisions>('/internal/access/decide', {
          ...{ organization_id, workspace_id, identity_id },
          permissions: ['deployments:read', 'deployments:update', 'deployments:delete'],
          deployment_ids: [production, staging, untagged],
        })
      ).body.decisions;
    expect(await decide(claims.sub)).toEqual([
      { deployment_id: production, permissions: ['deployments:read'] },
      { deployment_id: staging, permissions: ['deployments:update'] },
      { deployment_id: untagged, permissions: ['deployments:read', 'deployments:update'] },
    ]);
    expect(await decide(MISSING)).toEqual([]);
    await attach();
  });

  it('is explained as the check has it, with the policies that decide and what would change it', async () => {
    const { workspace_id } = platform.bootstrap;
    const issue = (role_id: string, read_only = false) =>
      platform.issue({
        workspaces: [workspace_id],
        role_id,
        org_role_id: PLATFORM_ROLES.organizationViewer,
        read_only,
      });
    const members = [
      editor,
      await issue(PLATFORM_ROLES.workspaceViewer),
      await issue(PLATFORM_ROLES.workspaceEditor, true),
    ];
    const viewers = { role_ids: [PLATFORM_ROLES.workspaceViewer] };
    await attach(
      {
        name: 'no production',
        condition_groups: [group('runs:create'), group('deployments:read'), group('deployments:update')],
      },
      {
        name: 'clean up',
        effect: 'allow',
        condition_groups: [group('runs:delete', 'equals', 'staging'), group('runs:create')],
      },
      { ...viewers, effect: 'allow', condition_groups: [group('runs:create', 'matches_if_exists', 's*')] },
      {
        role_ids: [PLATFORM_ROLES.organizationViewer],
        condition_groups: [group('runs:read', 'not_equals_if_exists', 'production')],
      },
    );
    const { token } = (await platform.verify(platform.bootstrap.api_key)).body;
    const explain = async (identity: string, permission: string, resource: string, api_key_id = '') => {
      const query = { identity, permission, resource, workspace_id, ...(api_key_id && { api_key_id }) };
      const url = `${platform.service.url}/api/v1/orgs/current/access/explain?${new URLSearchParams(query)}`;
      return (await (await fetch(url, { headers: { [PRINCIPAL_HEADER]: token } })).json()) as AccessExplanation;
    };
    const decisions = new Set<string>();
    const ofDeployments = WORKSPACE_PERMISSIONS.filter((each) => !each.startsWith('workspaces:'));
    for (const member of members) {
      for (const id of [production, staging, untagged]) {
        const { sub, permissions } = await claimsFor(`deployment:${id}`, member.key);
        const answers = ofDeployments.map(async (permission) => {
          const { allowed, policy } = await explain(sub, permission, id, member.id);
          expect(allowed, `${permission} of ${member.description} on ${id}`).toBe(permissions.includes(permission));
          decisions.add(`${policy?.effect ?? 'role'} ${allowed}`);
        });
        await Promise.all(answers);
      }
    }
    expect([...decisions].sort()).toEqual(['allow false', 'allow true', 'deny false', 'role false', 'role true']);
    const { sub } = await claimsFor('gateway');
    const named = (names: string[]) => attached.filter(({ name }) => names.includes(name)).map(({ id }) => id);
    expect(await explain(sub, 'deployments:update', production)).toMatchObject({
      allowed: false,
      role: { name: 'WORKSPACE_EDITOR' },
      policy: {
        effect: 'deny',
        policies: [{ name: 'no production' }],
        resource: { type: 'deployment', id: production },
      },
      changes: [{ change: 'detach_policies', policy_ids: named(['no production']) }],
    });
    expect(await explain(sub, 'runs:delete', staging)).toMatchObject({
      allowed: true,
      policy: { effect: 'allow', policies: [{ name: 'clean up' }] },
      changes: [{ change: 'detach_policies', policy_ids: named(['clean up']) }],
    });
    expect(await explain(sub, 'runs:delete', untagged)).toMatchObject({
      allowed: false,
      policy: null,
      changes: [{ change: 'give_role' }, { change: 'change_tags', policy_ids: named(['clean up']) }],
    });
    expect(await explain(sub, 'runs:create', workspace_id)).toMatchObject({
      allowed: true,
      policy: null,
      depends_on_tags: true,
    });
    expect(await explain(sub, 'workspaces:read', workspace_id)).toMatchObject({
      allowed: true,
      depends_on_tags: false,
    });
    await attach();
  });

  it('hides the tags of deployments that may not be seen', async () => {
    const { workspace_id } = platform.bootstrap;
    const tagged = async (id: string) => {
      const path = `${current}/tags/resource?resource_type=deployment&resource_id=${id}`;
      const { body: keys } = await platform.call<ResourceTag[]>(editor.key, 'GET', path, undefined, workspace_id);
      const [value] = keys.flatMap(({ values }) => values);
      if (!value) return keys;
      const taggings = `${current}/taggings?tag_value_id=${value.id}`;
      return (await platform.call<Tagging[]>(editor.key, 'GET', taggings, undefined, workspace_id)).body;
    };
    const valueId = ((await tagged(production)) as Tagging[])[0]!.tag_value_id;
    await attach({ condition_groups: [group('deployments:read')] });
    expect([(await tagged(production)).length, (await tagged(staging)).length]).toEqual([0, 1]);
    const ofValue = `${current}/taggings?tag_value_id=${valueId}`;
    expect((await platform.call(editor.key, 'GET', ofValue, undefined, workspace_id)).body).toEqual([]);
    expect((await platform.asAdmin<Tagging[]>('GET', ofValue)).body).toHaveLength(1);
    await attach();
    expect(await tagged(production)).toHaveLength(1);
  });
});

describe('what a caller may do with a workspace, and with its keys', () => {
  const SERVICE_KEYS = '/api/v1/orgs/current/service-keys';
  const about = (resource_type: string, ...permissions: string[]) =>
    permissions.map((permission) => ({ ...group(permission), resource_type }));
  let home: string;
  let production: string;
  let role: Role;
  let manager: IssuedApiKey;
  let valueAtHome: string;
  const policies: AccessPolicy[] = [];

  /** Tags a resource with `Stage=production` in a workspace. @returns the id of the value */
  async function tag(workspace: string, resource_type: string, resource_id: string, known?: string): Promise<string> {
    const post = async <Body>(path: string, body: object) => {
      const target = `/api/v1/workspaces/current${path}`;
      return (await platform.call<Body>(platform.bootstrap.api_key, 'POST', target, body, workspace)).body;
    };
    const makeValue = async () => {
      const key = await post<TagKey>('/tag-keys', { key: 'Stage' });
      return (await post<TagValue>(`/tag-keys/${key.id}/tag-values`, { value: 'production' })).id;
    };
    const tag_value_id = known ?? (await makeValue());
    await post('/taggings', { tag_value_id, resource_type, resource_id });
    return tag_value_id;
  }
  const attach = async (...bodies: object[]) => {
    for (const { id } of policies.splice(0)) await platform.asAdmin('DELETE', `${POLICIES}/${id}`);
    for (const body of bodies) policies.push(await make({ role_ids: [role.id], ...body }));
  };
  const permissionsIn = async (workspace_id: string) =>
    (await platform.verify(manager.key, { audience: 'org-access', workspace_id })).body.claims.permissions;
  const explain = async (permission: string, resource: string, place: object = {}) => {
    const identity = (await platform.verify(manager.key)).body.claims.sub;
    const query = new URLSearchParams({ identity, permission, resource, ...place });
    return (await platform.asAdmin<AccessExplanation>('GET', `/api/v1/orgs/current/access/explain?${query}`)).body;
  };

  beforeAll(async () => {
    const made = async (display_name: string) =>
      (await platform.asAdmin<Workspace>('POST', '/api/v1/workspaces', { display_name })).body.id;
    [home, production] = [await made('Home'), await made('Production')];
    const permissions = ['workspaces:read', 'workspaces:manage', 'workspaces:manage-keys'];
    const body = { display_name: 'Manager', description: '', permissions };
    role = (await platform.asAdmin<Role>('POST', '/api/v1/orgs/current/roles', body)).body;
    manager = await platform.issue({ workspaces: [home, production], role_id: role.id });
    await tag(production, 'workspace', production);
    valueAtHome = await tag(home, 'service_key', manager.id);
    // A tag of another workspace says nothing about this one.
    await tag(home, 'workspace', production, valueAtHome);
  });

  it('follows from the tags of the workspace, in checks, lists and explanations', async () => {
    const listed = async () => (await platform.call<Workspace[]>(manager.key, 'GET', '/api/v1/workspaces')).body;
    const rename = async (id: string) =>
      (await platform.call(manager.key, 'PATCH', `/api/v1/workspaces/${id}`, { display_name: 'Renamed' }, home)).status;
    await attach({ condition_groups: about('workspace', 'workspaces:manage') });
    expect(await permissionsIn(production)).not.toContain('workspaces:manage');
    expect([await rename(production), await rename(home)]).toEqual([403, 200]);
    expect((await listed()).map(({ permissions }) => permissions.includes('workspaces:manage'))).toEqual([true, false]);
    expect(await explain('workspaces:manage', production)).toMatchObject({
      allowed: false,
      policy: { effect: 'deny', resource: { type: 'workspace', id: production } },
      changes: [{ change: 'detach_policies', policy_ids: [policies[0]!.id] }],
    });
    await attach(
      { condition_groups: about('workspace', 'workspaces:read') },
      { effect: 'allow', condition_groups: about('workspace', 'workspaces:manage-members') },
    );
    expect((await listed()).map(({ id }) => id)).toEqual([home]);
    expect(await permissionsIn(production)).toEqual(expect.arrayContaining(['workspaces:manage-members']));
    expect(await permissionsIn(production)).not.toContain('workspaces:read');
    expect(await permissionsIn(home)).not.toContain('workspaces:manage-members');
    expect(await explain('workspaces:manage-members', production)).toMatchObject({
      allowed: true,
      policy: { effect: 'allow' },
    });
    await attach();
    expect(await listed()).toHaveLength(2);
  });

  it('follows from the tags of a service key, which one that is hidden does not show', async () => {
    const made = async () => {
      const body = { workspaces: [home], role_id: role.id };
      return (await platform.call<IssuedApiKey>(manager.key, 'POST', SERVICE_KEYS, body, home)).body.id;
    };
    const [tagged, plain] = [await made(), await made()];
    await tag(home, 'service_key', tagged, valueAtHome);
    const shown = async (path: string) => {
      const { body } = await platform.call<{ id: string }[]>(manager.key, 'GET', path, undefined, home);
      return [tagged, plain].filter((id) => body.some((key) => key.id === id));
    };
    await attach({ condition_groups: about('service_key', 'workspaces:manage-keys') });
    for (const path of [SERVICE_KEYS, '/api/v1/api-key']) expect(await shown(path)).toEqual([plain]);
    for (const path of [SERVICE_KEYS, '/api/v1/api-key'])
      expect((await platform.call(manager.key, 'DELETE', `${path}/${tagged}`, undefined, home)).status).toBe(404);
    expect((await platform.call(manager.key, 'PATCH', `${SERVICE_KEYS}/${tagged}`, { role_id: role.id })).status).toBe(
      404,
    );
    expect(await explain('workspaces:manage-keys', tagged)).toMatchObject({
      allowed: false,
      policy: { effect: 'deny', resource: { type: 'service_key', id: tagged } },
    });
    expect(await explain('workspaces:manage-keys', home)).toMatchObject({ allowed: true, depends_on_tags: true });
    const conditions = group('', 'not_equals_if_exists').conditions;
    const ofUntagged = about('service_key', 'workspaces:manage-keys').map((each) => ({ ...each, conditions }));
    await attach({ condition_groups: ofUntagged });
    expect(await shown(SERVICE_KEYS)).toEqual([tagged]);
    expect(await explain('workspaces:manage-keys', plain, { workspace_id: home })).toMatchObject({
      allowed: false,
      policy: { effect: 'deny', resource: { type: 'service_key', id: plain } },
    });
    await attach();
    expect(await shown(SERVICE_KEYS)).toEqual([tagged, plain]);
    expect((await platform.call(manager.key, 'DELETE', `${SERVICE_KEYS}/${tagged}`)).status).toBe(200);
  });

  it('is not escaped by a key with a role to which other policies are attached', async () => {
    const makeRole = async (...permissions: string[]) => {
      const body = { display_name: `Role ${randomUUID()}`, description: '', permissions };
      return (await platform.asAdmin<Role>('POST', '/api/v1/orgs/current/roles', body)).body.id;
    };
    const [reader, managing] = [await makeRole('workspaces:read'), await makeRole('workspaces:manage')];
    const statusesOf = async (...roles: string[]) => {
      const give = (role_id: string) =>
        platform.call<{ detail: string }>(manager.key, 'POST', SERVICE_KEYS, { workspaces: [home], role_id }, home);
      return (await Promise.all(roles.map(give))).map(({ status }) => status);
    };
    expect(await statusesOf(role.id, reader, managing)).toEqual([200, 200, 200]);
    await attach({ condition_groups: about('workspace', 'workspaces:manage') });
    expect(await statusesOf(role.id, reader, managing)).toEqual([200, 200, 403]);
    const more = { effect: 'allow', condition_groups: about('workspace', 'workspaces:manage-members') };
    await attach({ ...more, role_ids: [reader] });
    expect(await statusesOf(role.id, reader, managing)).toEqual([200, 403, 200]);
    await attach({ ...more, role_ids: [reader, role.id] });
    expect(await statusesOf(reader)).toEqual([200]);
    await attach();
  });
});

it('a change of a policy, its roles or a tag lets gateways ask again at once', async () => {
  const bus = createEventBus(platform.bus, { logger: silentLogger });
  let changes = 0;
  let onChange: () => void = () => undefined;
  await bus.subscribe({
    topics: ['organizations'],
    group: 'test',
    from: 'earliest',
    onEvent: async ({ type }) => {
      if (type !== 'runyard.organization.settings_changed') return;
      changes += 1;
      onChange();
    },
  });
  const change = async <Body>(method: string, path: string, body?: object): Promise<Body> => {
    const before = changes;
    const answer = await platform.asAdmin<Body>(method, path, body);
    expect(answer.status).toBeLessThan(300);
    await new Promise<void>((resolve) => {
      onChange = () => (changes > before ? resolve() : undefined);
      onChange();
    });
    return answer.body;
  };
  const { id } = await change<AccessPolicy>('POST', POLICIES, makeBody());
  const roles = `${BASE}/roles/${PLATFORM_ROLES.workspaceUser}/access-policies`;
  await change('POST', roles, { access_policy_ids: [id] });
  await change('DELETE', `${roles}?access_policy_ids=${id}`);
  await change('PATCH', `${POLICIES}/${id}`, { effect: 'allow' });
  await change('DELETE', `${POLICIES}/${id}`);
  const current = '/api/v1/workspaces/current';
  const { body: key } = await platform.asAdmin<TagKey>('POST', `${current}/tag-keys`, { key: 'Event' });
  const values = `${current}/tag-keys/${key.id}/tag-values`;
  const { body: value } = await platform.asAdmin<TagValue>('POST', values, { value: 'one' });
  const tagging = { tag_value_id: value.id, resource_type: 'deployment', resource_id: randomUUID() };
  const { id: taggingId } = await change<Tagging>('POST', `${current}/taggings`, tagging);
  await change('PATCH', `${values}/${value.id}`, { value: 'two' });
  await change('DELETE', `${current}/taggings/${taggingId}`);
  await change('DELETE', `${values}/${value.id}`);
  await change('PATCH', `${current}/tag-keys/${key.id}`, { key: 'Changed' });
  await change('DELETE', `${current}/tag-keys/${key.id}`);
  await bus.close();
});
