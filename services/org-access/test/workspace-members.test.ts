import { randomUUID } from 'node:crypto';
import type {
  NewWorkspaceMember,
  OrgMember,
  PendingWorkspace,
  PendingWorkspaceMember,
  Role,
  Workspace,
  WorkspaceMember,
} from '@runyard/contracts';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PLATFORM_ROLES } from '../src/access/platform-roles.ts';
import { addGrants, applyGrants } from '../src/access/role-grants.ts';
import { type TestMember, TestMembers } from './support/members.ts';
import { TestOrgAccess } from './support/platform.ts';

const MEMBERS = '/api/v1/workspaces/current/members';
const { workspaceAdmin: ADMIN, workspaceEditor: EDITOR, workspaceViewer: VIEWER } = PLATFORM_ROLES;

let platform: TestOrgAccess;
let people: TestMembers;
beforeAll(async () => {
  platform = await TestOrgAccess.start();
  people = await TestMembers.open(platform);
});
afterAll(async () => {
  await people?.close();
  await platform.close();
});

let workspaceId: string;
let manager: TestMember;
beforeEach(async () => {
  const made = await platform.asAdmin<Workspace>('POST', '/api/v1/workspaces', { display_name: 'Team' });
  workspaceId = made.body.id;
  manager = await people.add({ name: 'Manager', workspaces: { [workspaceId]: ADMIN } });
});

const call = <Body>(method: string, path = '', body?: unknown, key = manager.token) =>
  platform.call<Body>(key, method, MEMBERS + path, body, workspaceId);
const active = async (query = '') => (await call<WorkspaceMember[]>('GET', `/active${query}`)).body;
const roleOf = async (token: string) => (await platform.verify(token, { workspace_id: workspaceId })).status;

describe('a member of a workspace', () => {
  it('is added, found by address, given another role and removed, each at once', async () => {
    const ada = await people.add({ name: 'Ada' });
    expect(await roleOf(ada.token)).toBe(403);
    const added = await call<WorkspaceMember>('POST', '', { org_identity_id: ada.identityId, role_id: VIEWER });
    expect(added).toMatchObject({
      status: 200,
      body: {
        id: expect.any(String),
        org_identity_id: ada.identityId,
        ls_user_id: ada.personId,
        organization_id: platform.bootstrap.organization_id,
        tenant_id: workspaceId,
        access_scope: 'workspace',
        email: ada.email,
        role_id: VIEWER,
        role_name: 'Viewer',
        org_role_id: PLATFORM_ROLES.organizationUser,
        is_disabled: false,
      },
    });
    expect(await roleOf(ada.token)).toBe(200);
    expect(await active(`?emails=${encodeURIComponent(ada.email.toUpperCase())}&limit=100`)).toEqual([added.body]);
    const { id } = added.body;
    const changed = await call<WorkspaceMember>('PATCH', `/${id}`, { role_id: EDITOR });
    expect(changed.body).toEqual({ ...added.body, role_id: EDITOR, role_name: 'Editor' });
    expect((await call('DELETE', `/${id}`)).body).toEqual(changed.body);
    expect(await roleOf(ada.token)).toBe(403);
    expect((await call('DELETE', `/${id}`)).status).toBe(404);
    const actions = (await people.actions(ada.identityId)).filter((action) => action.startsWith('workspace_member'));
    expect(actions).toEqual(['workspace_member.added', 'workspace_member.role_changed', 'workspace_member.removed']);
  });

  it('is named by person too, and refused when unknown, foreign, named in contradiction or in the workspace', async () => {
    const [ada, bob] = [await people.add(), await people.add()];
    expect((await call('POST', '', { ls_user_id: ada.personId, role_id: EDITOR })).status).toBe(200);
    expect(await call('POST', '', { ls_user_id: ada.personId, role_id: ADMIN })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining(ada.email) },
    });
    for (const named of [
      {},
      { org_identity_id: randomUUID() },
      { user_id: bob.personId },
      { org_identity_id: bob.identityId, ls_user_id: ada.personId },
    ]) {
      expect((await call('POST', '', { ...named, role_id: EDITOR })).status).toBe(422);
    }
    for (const role_id of [randomUUID(), PLATFORM_ROLES.organizationAdmin]) {
      expect(await call('POST', '', { org_identity_id: bob.identityId, role_id })).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ['body', 'role_id'] }] },
      });
    }
  });

  it('whose role a group of SCIM decides is not changed by hand: the answer names the group', async () => {
    const ada = await people.add();
    const organizationId = platform.bootstrap.organization_id;
    const group = await people.database.prisma.scimGroup.create({
      data: { id: uuidv7(), organizationId, displayName: `Team ${workspaceId}` },
    });
    await people.database.transact(async (transaction) => {
      const { identityId } = ada;
      const source = { source: 'scim_group' as const, sourceId: group.id };
      await addGrants(transaction, organizationId, [{ identityId, workspaceId, roleId: EDITOR, ...source }]);
      await applyGrants(transaction, organizationId, [identityId]);
    });
    const [{ id }] = (await active(`?emails=${ada.email}`)) as [WorkspaceMember];
    for (const answer of [await call('PATCH', `/${id}`, { role_id: VIEWER }), await call('DELETE', `/${id}`)]) {
      expect(answer).toMatchObject({ status: 409, body: { detail: expect.stringContaining(group.displayName) } });
    }
    expect(await active(`?emails=${ada.email}`)).toMatchObject([{ role_id: EDITOR }]);
  });

  it('who administers the organization is in every list as Admin, and stays so', async () => {
    const boss = await people.add({ name: 'Boss', organizationRole: 'organizationAdmin' });
    const [listed] = (await active(`?emails=${boss.email}`)) as [WorkspaceMember];
    expect(listed).toMatchObject({ id: boss.identityId, role_id: ADMIN, org_role_name: 'Organization Admin' });
    expect((await call('PATCH', `/${listed.id}`, { role_id: VIEWER })).status).toBe(409);
    expect((await call('PATCH', `/${listed.id}`, { role_id: ADMIN })).body).toEqual(listed);
    expect((await call('DELETE', `/${listed.id}`)).status).toBe(409);
  });

  it('gets no permission that their manager lacks, unless the manager administers the organization', async () => {
    const role = await platform.asAdmin<Role>('POST', '/api/v1/orgs/current/roles', {
      display_name: `Lead ${workspaceId}`,
      permissions: ['workspaces:manage-members', ...['workspaces:read', 'deployments:read', 'runs:read']],
    });
    const lead = await people.add({ workspaces: { [workspaceId]: role.body.id } });
    const [ada, viewer] = [await people.add(), await people.add({ workspaces: { [workspaceId]: VIEWER } })];
    const add = (role_id: string, key: string) => call('POST', '', { org_identity_id: ada.identityId, role_id }, key);
    expect((await add(EDITOR, lead.token)).status).toBe(403);
    expect((await add(VIEWER, viewer.token)).status).toBe(403);
    expect((await add(VIEWER, lead.token)).status).toBe(200);
    const self = (await active(`?emails=${lead.email}`))[0]!;
    expect((await call('PATCH', `/${self.id}`, { role_id: ADMIN }, lead.token)).status).toBe(403);
    const mightier = (await active(`?emails=${manager.email}`))[0]!;
    expect((await call('DELETE', `/${mightier.id}`, undefined, lead.token)).status).toBe(403);
    expect((await call('PATCH', `/${self.id}`, { role_id: ADMIN }, platform.bootstrap.api_key)).status).toBe(200);
  });

  it('of another workspace is not there', async () => {
    const other = await platform.asAdmin<Workspace>('POST', '/api/v1/workspaces', { display_name: 'Other' });
    const stranger = await people.add({ workspaces: { [other.body.id]: EDITOR } });
    const { id } = await people.database.prisma.member.findFirstOrThrow({ where: { identityId: stranger.identityId } });
    const missing = await call('DELETE', `/${randomUUID()}`);
    expect(missing.status).toBe(404);
    for (const each of [id, stranger.identityId]) {
      expect(await call('DELETE', `/${each}`)).toEqual(missing);
      expect(await call('PATCH', `/${each}`, { role_id: VIEWER })).toEqual(missing);
    }
    expect(await active(`?emails=${stranger.email}`)).toEqual([]);
  });
});

it('members are filtered, sorted and paged, and all are listed with the pending invites', async () => {
  const added = [];
  for (const name of ['Zoe 100%', 'Yan', 'Xia'])
    added.push(await people.add({ name, workspaces: { [workspaceId]: name === 'Yan' ? VIEWER : EDITOR } }));
  const names = async (query: string) => (await active(query)).map(({ full_name }) => full_name);
  const own = added.map(({ email }) => `emails=${encodeURIComponent(email)}`).join('&');
  expect(await names(`?${own}&sort_by=name&sort_by_desc=false`)).toEqual(['Xia', 'Yan', 'Zoe 100%']);
  expect(await names(`?${own}&sort_by=name&limit=1&offset=1`)).toEqual(['Yan']);
  expect(await names(`?${own}&sort_by=role&sort_by_desc=true&limit=1`)).toEqual(['Yan']);
  expect(await names('?q=100%25')).toEqual(['Zoe 100%']);
  expect(await names(`?ls_user_ids=${added[2]!.personId}`)).toEqual(['Xia']);
  expect(await names(`?${own}&is_disabled=true`)).toEqual([]);

  const invited = await platform.asAdmin('POST', '/api/v1/orgs/current/members', {
    email: 'new@example.com',
    workspace_ids: [workspaceId],
    workspace_role_id: VIEWER,
  });
  expect(invited.status).toBe(200);
  const pending = await call<PendingWorkspaceMember[]>('GET', '/pending?emails=NEW@example.com&sort_by=role');
  expect(pending.body).toMatchObject([
    { email: 'new@example.com', tenant_id: workspaceId, role_id: VIEWER, org_role_id: PLATFORM_ROLES.organizationUser },
  ]);
  const all = await call<{ members: WorkspaceMember[]; pending: unknown }>('GET');
  expect(all.body.pending).toEqual(pending.body);
  expect(all.body.members.map(({ email }) => email)).toEqual(expect.arrayContaining(added.map(({ email }) => email)));
  const { id } = pending.body[0]!;
  const changed = await call('PATCH', `/${id}/pending`, { role_id: EDITOR });
  expect(changed).toEqual({ status: 200, body: { ...pending.body[0], role_id: EDITOR, role_name: 'Editor' } });
  expect(await people.actions(id)).toEqual(['invite.workspace_role_changed']);
  expect((await call('PATCH', `/${id}/pending`, { role_id: PLATFORM_ROLES.organizationUser })).status).toBe(422);
  expect((await call('PATCH', `/${randomUUID()}/pending`, { role_id: EDITOR })).status).toBe(404);
  expect((await call('DELETE', `/${id}/pending`)).body).toEqual(changed.body);
  expect((await call('PATCH', `/${id}/pending`, { role_id: EDITOR })).status).toBe(404);
  expect((await call('DELETE', `/${id}/pending`)).status).toBe(404);
  const left = await platform.asAdmin<unknown[]>('GET', '/api/v1/orgs/current/members/pending?emails=new@example.com');
  expect(left.body).toMatchObject([{ workspace_ids: [] }]);
});

describe('a batch of people for a workspace', () => {
  const INFO = '/api/v1/orgs/current/info';
  const { organizationUser, organizationViewer, organizationOperator } = PLATFORM_ROLES;
  const allow = (workspace_admin_can_invite_to_org: boolean) =>
    platform.asAdmin('PATCH', INFO, { workspace_admin_can_invite_to_org });
  const address = () => `${randomUUID()}@example.com`;
  const batch = (body: unknown, key = manager.token) => call<NewWorkspaceMember[]>('POST', '/batch', body, key);
  const pendingOf = async (email: string) =>
    (await platform.asAdmin<object[]>('GET', `/api/v1/orgs/current/members/pending?emails=${email}`)).body;

  it('gets members in at once and invites others, to the organization and the workspace', async () => {
    await allow(true);
    const [ada, email] = [await people.add({ name: 'Ada' }), address()];
    const answer = await batch([
      {
        email: ` ${email.toUpperCase()} `,
        full_name: 'Grace',
        role_id: organizationViewer,
        workspace_ids: [workspaceId],
      },
      { email: ada.email, workspace_role_id: VIEWER },
    ]);
    await allow(false);
    const roles = { org_role_id: organizationUser, tenant_id: workspaceId };
    expect(answer).toMatchObject({
      status: 200,
      body: [
        { email, is_pending: true, role_id: EDITOR, org_role_id: organizationViewer, full_name: 'Grace' },
        { ...roles, email: ada.email, is_pending: false, role_id: VIEWER, expires_at: null, invite_link: null },
      ],
    });
    expect(answer.body[0]!.invite_link).toContain('/login/invite?token=');
    expect(await roleOf(ada.token)).toBe(200);
    expect(await people.actions(ada.identityId)).toContain('workspace_member.added');
    expect(await pendingOf(email)).toMatchObject([{ role_id: organizationViewer, workspace_ids: [workspaceId] }]);
  });

  it('changes nothing when the organization does not let managers of workspaces invite, or one person is in already', async () => {
    const [ada, email] = [await people.add(), address()];
    const list = [{ email: ada.email }, { email }];
    expect(await batch(list)).toMatchObject({ status: 403 });
    await allow(true);
    expect(await batch([...list, { email: manager.email }])).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining(manager.email) },
    });
    expect((await batch([{ email, role_id: organizationOperator }])).status).toBe(403);
    for (const wrong of [
      { email: ada.email.toUpperCase() },
      { email, workspace_ids: [platform.bootstrap.workspace_id] },
      { email, workspace_role_id: organizationUser },
    ])
      expect((await batch([{ email: ada.email }, wrong])).status).toBe(422);
    await platform.asAdmin('PATCH', INFO, { invites_enabled: false });
    expect((await batch(list)).status).toBe(403);
    await platform.asAdmin('PATCH', INFO, { invites_enabled: true });
    await allow(false);
    expect(await roleOf(ada.token)).toBe(403);
    expect(await pendingOf(email)).toEqual([]);
    const operator = await people.add({
      organizationRole: 'organizationOperator',
      workspaces: { [workspaceId]: ADMIN },
    });
    expect((await batch(list, operator.token)).status).toBe(200);
    expect((await batch(Array.from({ length: 501 }, () => ({ email: address() })))).status).toBe(422);
  });

  it('adds the workspace to an invite that waits, which stays as it is otherwise', async () => {
    const email = address();
    const first = platform.bootstrap.workspace_id;
    const invited = await platform.asAdmin<NewWorkspaceMember>('POST', '/api/v1/orgs/current/members', {
      ...{ email, role_id: organizationViewer, workspace_ids: [first], workspace_role_id: VIEWER },
    });
    for (const workspace_role_id of [ADMIN, VIEWER]) {
      const answer = await batch([{ email, role_id: organizationUser, workspace_role_id }]);
      expect(answer.body).toMatchObject([
        { is_pending: true, role_id: workspace_role_id, org_role_id: organizationViewer, invite_link: null },
      ]);
    }
    const [waiting] = (await pendingOf(email)) as [{ id: string; expires_at: string; workspace_ids: string[] }];
    expect(waiting).toMatchObject({ id: invited.body.id, expires_at: invited.body.expires_at });
    expect(waiting.workspace_ids.toSorted()).toEqual([first, workspaceId].toSorted());
  });

  it('adds the workspace to what an invited person gets, however their claim and the batch meet', async () => {
    const email = address();
    const person = await people.database.prisma.person.create({
      data: { id: uuidv7(), email, fullName: 'Grace', emailVerifiedAt: new Date() },
    });
    await platform.asAdmin('POST', '/api/v1/orgs/current/members', { email });
    const session = await people.signIn(person.id);
    const here = `/api/v1/orgs/pending/${platform.bootstrap.organization_id}/claim`;
    const [claimed, added] = await Promise.all([
      platform.callAs<OrgMember>(session, 'POST', here),
      batch([{ email, workspace_role_id: VIEWER }]),
    ]);
    expect([claimed.status, added.status]).toEqual([200, 200]);
    expect(await active(`?emails=${email}`)).toMatchObject([{ org_identity_id: claimed.body.id, role_id: VIEWER }]);
  });
});

it('an invited person sees the workspaces of the invite, declines one and claims the rest with another', async () => {
  const PENDING = '/api/v1/workspaces/pending';
  const other = await platform.asAdmin<Workspace>('POST', '/api/v1/workspaces', { display_name: 'Other' });
  const gone = await platform.asAdmin<Workspace>('POST', '/api/v1/workspaces', { display_name: 'Gone' });
  const invite = { workspace_role_id: VIEWER, workspace_ids: [workspaceId, other.body.id, gone.body.id] };
  const arrive = async (emailVerifiedAt: Date | null) => {
    const email = `${randomUUID()}@example.com`;
    const { id } = await people.database.prisma.person.create({ data: { id: uuidv7(), email, emailVerifiedAt } });
    await platform.asAdmin('POST', '/api/v1/orgs/current/members', { email, ...invite });
    const session = await people.signIn(id);
    return <Body>(method: string, path = '') => platform.callAs<Body>(session, method, PENDING + path);
  };
  const [ask, askUnverified] = [await arrive(new Date()), await arrive(null)];
  await platform.asAdmin('DELETE', `/api/v1/workspaces/${gone.body.id}`);
  const seen = await ask<PendingWorkspace[]>('GET');
  expect(seen.body.map(({ id }) => id).toSorted()).toEqual([workspaceId, other.body.id].toSorted());
  expect(seen.body[0]).toMatchObject({
    organization_id: platform.bootstrap.organization_id,
    role_id: VIEWER,
    org_role_id: PLATFORM_ROLES.organizationUser,
  });
  expect(await ask('DELETE', `/${other.body.id}`)).toEqual({
    status: 200,
    body: seen.body.find(({ id }) => id === other.body.id),
  });
  for (const id of [other.body.id, gone.body.id, randomUUID()]) {
    expect((await ask('DELETE', `/${id}`)).status).toBe(404);
    expect((await ask('POST', `/${id}/claim`)).status).toBe(404);
  }
  const claimed = await ask<OrgMember>('POST', `/${workspaceId}/claim`);
  expect(claimed).toMatchObject({ status: 200, body: { tenant_ids: [workspaceId] } });
  expect((await ask('GET')).body).toEqual([]);
  expect((await ask('POST', `/${workspaceId}/claim`)).status).toBe(404);
  expect((await askUnverified('GET')).body).toEqual([]);
  expect((await askUnverified('POST', `/${workspaceId}/claim`)).status).toBe(404);
  expect((await platform.asAdmin('GET', PENDING)).status).toBe(403);
});
