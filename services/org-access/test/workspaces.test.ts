import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import {
  type CloudEvent,
  conforms,
  type Role,
  type Workspace,
  WorkspaceDeleted,
  type WorkspaceStats,
} from '@runyard/contracts';
import { createEventBus } from '@runyard/event-bus';
import { silentLogger } from '@runyard/service-kit';
import { waitFor } from '@runyard/test-kit';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLATFORM_ROLES } from '../src/access/platform-roles.ts';
import { TestMembers } from './support/members.ts';
import { TestOrgAccess } from './support/platform.ts';

const WORKSPACES = '/api/v1/workspaces';

let platform: TestOrgAccess;
let people: TestMembers;
/** Counts deployments in place of control-plane. */
const controlPlane = {
  status: 200,
  asked: [] as unknown[],
  server: createServer(async (request, response) => {
    controlPlane.asked.push(await json(request));
    response.writeHead(controlPlane.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ count: 3 }));
  }),
};
beforeAll(async () => {
  const { server } = controlPlane;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  platform = await TestOrgAccess.start({ environment: { CONTROL_PLANE_URL: `http://127.0.0.1:${port}/` } });
  people = await TestMembers.open(platform);
});
afterAll(async () => {
  await people?.close();
  await platform.close();
  controlPlane.server.close();
});

const make = async (body: Record<string, unknown> = {}) => {
  const answer = await platform.asAdmin<Workspace>('POST', WORKSPACES, { display_name: 'Research', ...body });
  if (answer.status !== 200) throw new Error(`not made: ${JSON.stringify(answer)}`);
  return answer.body;
};
const listed = async (key = platform.bootstrap.api_key, query = '') =>
  (await platform.call<Workspace[]>(key, 'GET', WORKSPACES + query)).body;

describe('a workspace', () => {
  it('is made with the id and the handle of the caller, and returned as it is listed', async () => {
    const [id, tenant_handle] = [randomUUID(), `Team_${randomUUID().slice(0, 8)}`];
    const made = await make({ id, tenant_handle, display_name: "Bob's (lab) @ home" });
    expect(made).toEqual({
      id,
      organization_id: platform.bootstrap.organization_id,
      created_at: expect.any(String),
      display_name: "Bob's (lab) @ home",
      is_personal: false,
      is_deleted: false,
      tenant_handle,
      data_plane_url: null,
      read_only: false,
      role_id: PLATFORM_ROLES.workspaceAdmin,
      role_name: 'Admin',
      permissions: expect.arrayContaining(['workspaces:manage']),
    });
    expect(await listed()).toContainEqual(made);
    expect(await people.actions(id)).toEqual(['workspace.created']);
  });

  it('is refused with an id or a handle that is taken, with a clear answer', async () => {
    const taken = await make({ tenant_handle: `team-${randomUUID()}` });
    for (const [field, value] of [
      ['id', taken.id],
      ['tenant_handle', taken.tenant_handle],
    ] as const) {
      const answer = await platform.asAdmin('POST', WORKSPACES, { display_name: 'Twin', [field]: value });
      expect(answer).toMatchObject({ status: 409, body: { detail: expect.stringContaining(String(value)) } });
    }
  });

  it.each([
    ['display_name', 'a/b'],
    ['id', 'mine'],
    ['tenant_handle', 'with space'],
  ])('is refused with %s = %j: 422 with its location', async (field, value) => {
    expect(await platform.asAdmin('POST', WORKSPACES, { display_name: 'x', [field]: value })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', field] }] },
    });
  });

  it('is administered by the operator who made it, and not by operators who did not', async () => {
    const [maker, other] = [
      await people.add({ organizationRole: 'organizationOperator' }),
      await people.add({ organizationRole: 'organizationOperator' }),
    ];
    const made = await platform.call<Workspace>(maker.token, 'POST', WORKSPACES, { display_name: 'Made' });
    expect(made).toMatchObject({ status: 200, body: { role_name: 'Admin', read_only: false } });
    expect((await listed(maker.token)).map(({ id }) => id)).toEqual([made.body.id]);
    expect(await listed(other.token)).toEqual([]);
    expect((await platform.call(other.token, 'DELETE', `${WORKSPACES}/${made.body.id}`)).status).toBe(403);
  });

  it('is renamed by those who manage it; to others it is forbidden, or not there', async () => {
    const [mine, others] = [await make(), await make()];
    const admin = await people.add({ workspaces: { [mine.id]: PLATFORM_ROLES.workspaceAdmin } });
    const viewer = await people.add({ workspaces: { [mine.id]: PLATFORM_ROLES.workspaceViewer } });
    const rename = (token: string, id: string) =>
      platform.call<Workspace>(token, 'PATCH', `${WORKSPACES}/${id}`, { display_name: 'Renamed' });
    expect(await rename(admin.token, mine.id)).toMatchObject({ status: 200, body: { display_name: 'Renamed' } });
    expect((await rename(viewer.token, mine.id)).status).toBe(403);
    const missing = await rename(admin.token, randomUUID());
    expect(missing.status).toBe(404);
    expect(await rename(admin.token, others.id)).toEqual(missing);
    expect(await listed(viewer.token)).toEqual([expect.objectContaining({ role_name: 'Viewer', read_only: true })]);
    expect(await people.actions(mine.id)).toEqual(['workspace.created', 'workspace.updated']);
  });
});

describe('a deleted workspace', () => {
  it('gives nobody access, revokes the keys that work only there, and is told to the other services', async () => {
    const bus = createEventBus(platform.bus, { logger: silentLogger });
    const heard: CloudEvent[] = [];
    await bus.subscribe({
      topics: ['organizations'],
      group: 'test',
      from: 'earliest',
      onEvent: async (event) => void heard.push(event),
    });
    const [gone, stays] = [await make({ tenant_handle: `h-${randomUUID()}` }), await make()];
    const member = await people.add({
      workspaces: { [gone.id]: PLATFORM_ROLES.workspaceAdmin, [stays.id]: PLATFORM_ROLES.workspaceViewer },
    });
    const only = await platform.issue({ workspaces: [gone.id] });
    const both = await platform.issue({ workspaces: [gone.id, stays.id], default_workspace_id: gone.id });
    expect((await platform.verify(member.token, { workspace_id: gone.id })).status).toBe(200);

    const deleted = await platform.asAdmin<Workspace>('DELETE', `${WORKSPACES}/${gone.id}`);
    expect(deleted).toMatchObject({
      status: 200,
      body: { id: gone.id, is_deleted: true, role_id: null, permissions: [], created_at: gone.created_at },
    });
    expect((await platform.verify(only.key)).status).toBe(401);
    for (const key of [both.key, member.token]) {
      expect((await platform.verify(key, { workspace_id: gone.id })).status).toBe(403);
    }
    expect((await platform.verify(both.key)).body.claims.workspace_id).toBe(stays.id);
    expect((await listed(member.token)).map(({ id }) => id)).toEqual([stays.id]);
    expect(await listed()).not.toContainEqual(expect.objectContaining({ id: gone.id }));
    expect(await listed(undefined, '?include_deleted=true')).toContainEqual(deleted.body);
    expect(await listed(both.key, '?include_deleted=true')).not.toContainEqual(
      expect.objectContaining({ id: gone.id }),
    );
    expect((await platform.asAdmin('DELETE', `${WORKSPACES}/${gone.id}`)).status).toBe(404);
    expect((await platform.asAdmin('PATCH', `${WORKSPACES}/${gone.id}`, { display_name: 'x' })).status).toBe(404);
    expect(await people.actions(gone.id)).toEqual(['workspace.created', 'workspace.deleted']);
    await waitFor(
      () => heard.find((event) => conforms(WorkspaceDeleted, event) && event.data.workspace_id === gone.id),
      { what: 'the event of the deletion' },
    );
    await bus.close();
    // Its handle is free again, its id is not.
    await make({ tenant_handle: gone.tenant_handle });
    expect((await platform.asAdmin('POST', WORKSPACES, { display_name: 'x', id: gone.id })).status).toBe(409);
  });

  it('is not found by administrators who name it, who reach the rest, and looks to others like a foreign one', async () => {
    const gone = await make();
    await platform.asAdmin('DELETE', `${WORKSPACES}/${gone.id}`);
    const administrator = await people.add({ organizationRole: 'organizationAdmin' });
    const { token } = await people.signIn(administrator.personId);
    for (const key of [platform.bootstrap.api_key, token]) {
      const call = (method: string, path: string, body?: object) =>
        platform.call(key, method, `${WORKSPACES}${path}`, body, gone.id);
      const missing = { status: 404, body: { detail: 'Workspace not found' } };
      expect(await call('DELETE', `/${gone.id}`)).toEqual(missing);
      expect(await call('PATCH', `/${gone.id}`, { display_name: 'x' })).toEqual(missing);
      expect(await call('GET', '/current/secrets')).toEqual(missing);
      expect((await call('GET', '')).status).toBe(200);
      const { claims } = (await platform.verify(key, { workspace_id: gone.id })).body;
      expect(claims).toMatchObject({ workspace_deleted: true });
      expect(claims).not.toHaveProperty('workspace_id');
      const audience = `deployment:${randomUUID()}`;
      expect((await platform.verify(key, { workspace_id: gone.id, audience })).status).toBe(403);
    }
    const strangerId = await people.addPerson();
    const { organizationId } = await people.addOrganization();
    await people.addMember(strangerId, organizationId, [
      { roleId: PLATFORM_ROLES.organizationAdmin, workspaceId: null },
    ]);
    const stranger = await people.signIn(strangerId);
    const operator = await people.add({ organizationRole: 'organizationOperator' });
    const reader = await platform.issue({ org_role_id: PLATFORM_ROLES.organizationAdmin, read_only: true });
    for (const key of [stranger.token, operator.token, reader.key]) {
      const [ofDeleted, ofNobody] = await Promise.all(
        [gone.id, randomUUID()].map(async (id) => ({ id, answer: await platform.verify(key, { workspace_id: id }) })),
      );
      expect(ofDeleted!.answer.status).toBe(403);
      expect(ofDeleted!.answer.body.detail.replace(ofDeleted!.id, '')).toBe(
        ofNobody!.answer.body.detail.replace(ofNobody!.id, ''),
      );
    }
  });

  it('is named to other services that ask, and unknown ones are not', async () => {
    const { organization_id } = platform.bootstrap;
    const [gone, stays] = [await make(), await make()];
    await platform.asAdmin('DELETE', `${WORKSPACES}/${gone.id}`);
    const workspaces = [gone.id, stays.id, randomUUID()].map((workspace_id) => ({ organization_id, workspace_id }));
    const foreign = { organization_id: randomUUID(), workspace_id: gone.id };
    const answer = await platform.internal('/internal/workspaces/deleted', { workspaces: [...workspaces, foreign] });
    expect(answer).toEqual({ status: 200, body: { deleted: [{ organization_id, workspace_id: gone.id }] } });
  });

  it('cannot be the only default one of an identity provider, and is no default of others any more', async () => {
    const [gone, stays] = [await make(), await make()];
    const provider = {
      organizationId: platform.bootstrap.organization_id,
      protocol: 'oidc',
      displayName: 'Acme',
      defaultWorkspaceRoleId: PLATFORM_ROLES.workspaceEditor,
      configuration: {},
    };
    const { ssoProvider } = people.database.prisma;
    const { id } = await ssoProvider.create({ data: { ...provider, id: uuidv7(), defaultWorkspaceIds: [gone.id] } });
    expect(await platform.asAdmin('DELETE', `${WORKSPACES}/${gone.id}`)).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('Acme') },
    });
    await ssoProvider.update({ where: { id }, data: { defaultWorkspaceIds: [gone.id, stays.id] } });
    expect((await platform.asAdmin('DELETE', `${WORKSPACES}/${gone.id}`)).status).toBe(200);
    expect((await ssoProvider.findUniqueOrThrow({ where: { id } })).defaultWorkspaceIds).toEqual([stays.id]);
    await ssoProvider.delete({ where: { id } });
  });

  it('is never the last one of its organization, also when all are deleted at once', async () => {
    const own = await TestOrgAccess.start();
    try {
      const { body } = await own.asAdmin<Workspace>('POST', WORKSPACES, { display_name: 'Second' });
      const answers = await Promise.all(
        [own.bootstrap.workspace_id, body.id].map((id) => own.asAdmin('DELETE', `${WORKSPACES}/${id}`)),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
      const { body: left } = await own.asAdmin<Workspace[]>('GET', WORKSPACES);
      expect(left).toHaveLength(1);
      const again = await own.internal('/internal/bootstrap', {});
      expect(again.body).toMatchObject({ workspace_id: left[0]!.id });
    } finally {
      await own.close();
    }
  });
});

/** Makes a key of a role that an access policy about deployments is attached to. */
async function issueBoundedKey(workspaceId: string): Promise<string> {
  const role = { display_name: randomUUID(), permissions: ['workspaces:read', 'deployments:read'] };
  const { body } = await platform.asAdmin<Role>('POST', '/api/v1/orgs/current/roles', role);
  const conditions = [
    { attribute_name: 'resource_tag_key', attribute_key: 'Stage', operator: 'equals', attribute_value: 'hidden' },
  ];
  const groups = [{ resource_type: 'deployment', permission: 'deployments:read', conditions }];
  const policy = { name: randomUUID(), effect: 'deny', condition_groups: groups, role_ids: [body.id] };
  const made = await platform.asAdmin('POST', '/v1/platform/orgs/current/access-policies', policy);
  expect(made.status).toBe(201);
  return (await platform.issue({ workspaces: [workspaceId], role_id: body.id })).key;
}

it('the numbers of a workspace are those of what it holds, without deployments while control-plane does not answer', async () => {
  const { id } = await make();
  await people.add({ workspaces: { [id]: PLATFORM_ROLES.workspaceEditor } });
  const { key } = await platform.issue({ workspaces: [id] });
  expect(await platform.call<WorkspaceStats>(key, 'GET', `${WORKSPACES}/current/stats`)).toMatchObject({
    status: 200,
    body: {
      tenant_id: id,
      member_count: 1,
      pending_member_count: 0,
      api_key_count: 1,
      secret_count: 0,
      deployment_count: 3,
    },
  });
  expect(controlPlane.asked).toEqual([{ organization_id: platform.bootstrap.organization_id, workspace_id: id }]);
  const asked = controlPlane.asked.length;
  const bounded = await issueBoundedKey(id);
  expect(await platform.call<WorkspaceStats>(bounded, 'GET', `${WORKSPACES}/current/stats`)).toMatchObject({
    status: 200,
    body: { member_count: 1, deployment_count: null },
  });
  expect(controlPlane.asked, 'what policies hide is not counted').toHaveLength(asked);
  controlPlane.status = 503;
  expect(await platform.call<WorkspaceStats>(key, 'GET', `${WORKSPACES}/current/stats`)).toMatchObject({
    status: 200,
    body: { member_count: 1, deployment_count: null },
  });
  const others = ['usage_limits', 'shared'].map((path) => platform.call(key, 'GET', `${WORKSPACES}/current/${path}`));
  expect((await Promise.all(others)).map(({ body }) => body)).toEqual([
    { in_reject_set: false, usage_limit_type: null, tenant_limit: null },
    { entities: [] },
  ]);
});
