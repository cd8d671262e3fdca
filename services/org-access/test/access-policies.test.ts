import { randomUUID } from 'node:crypto';
import type { AccessDecisions, AccessPolicy, IssuedApiKey, Tagging, TagKey, TagValue } from '@runyard/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLATFORM_ROLES } from '../src/access/platform-roles.ts';
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

  it('is refused with a condition that could never be asked', async () => {
    for (const change of [
      { condition_groups: [] },
      { condition_groups: [{ ...group('deployments:read'), conditions: [] }] },
      { condition_groups: [group('deployments:create')] },
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

  it('is asked about by control-plane, for callers whom a policy concerns', async () => {
    const { organization_id, workspace_id } = platform.bootstrap;
    expect((await claimsFor('control-plane')).bounded_by_policies).toBeUndefined();
    await attach({ condition_groups: [group('deployments:update'), group('deployments:read', 'equals', 'staging')] });
    const claims = await claimsFor('control-plane');
    expect(claims).toMatchObject({
      bounded_by_policies: true,
      permissions: expect.arrayContaining(['deployments:update']),
    });
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
});
