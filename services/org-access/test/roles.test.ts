import { randomUUID } from 'node:crypto';
import { type PermissionMeaning, type Role, WORKSPACE_PERMISSIONS } from '@runyard/contracts';
import { waitFor } from '@runyard/test-kit';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLATFORM_ROLES } from '../src/access/platform-roles.ts';
import { TestMembers } from './support/members.ts';
import { type Answer, TestOrgAccess } from './support/platform.ts';

const ROLES = '/api/v1/orgs/current/roles';
const EDITOR = PLATFORM_ROLES.workspaceEditor;

let platform: TestOrgAccess;
let people: TestMembers;
let workspaceId: string;
beforeAll(async () => {
  platform = await TestOrgAccess.start();
  people = await TestMembers.open(platform);
  workspaceId = platform.bootstrap.workspace_id;
});
afterAll(async () => {
  await people?.close();
  await platform.close();
});

const make = async (body: Record<string, unknown> = {}) => {
  const role = { display_name: `Role ${randomUUID()}`, permissions: ['workspaces:read'], ...body };
  const answer = await platform.asAdmin<Role>('POST', ROLES, role);
  if (answer.status !== 200) throw new Error(`not made: ${JSON.stringify(answer)}`);
  return answer.body;
};
const remove = (id: string) => platform.asAdmin<Role & { detail: string }>('DELETE', `${ROLES}/${id}`);
/** Sends a request that waits for a role, which is gone when it goes on. */
async function whileDeleted<Body>(roleId: string, request: () => Promise<Answer<Body>>): Promise<Answer<Body>> {
  const { database } = people;
  const answer = await database.transact(async (transaction) => {
    await transaction.$queryRaw`SELECT 1 FROM role WHERE id = ${roleId}::uuid FOR UPDATE`;
    const sent = request();
    const isWaiting = async () => {
      const waiting = await database.prisma.$queryRaw<unknown[]>`
        SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      return waiting.length === 1;
    };
    await waitFor(isWaiting, { what: 'the request to wait for the role' });
    await transaction.role.delete({ where: { id: roleId } });
    return { sent };
  });
  return answer.sent;
}
const permissionsOf = async (key: string) => (await platform.verify(key, { workspace_id: workspaceId })).body.claims;

describe('a custom role', () => {
  it('is made, listed and changed under both paths, its permissions in the given order', async () => {
    const permissions = ['runs:read', 'deployments:read', 'workspaces:read'];
    const made = await make({ display_name: 'Auditor', description: 'Reads.', permissions });
    expect(made).toEqual({
      id: expect.any(String),
      name: 'CUSTOM',
      display_name: 'Auditor',
      description: 'Reads.',
      organization_id: platform.bootstrap.organization_id,
      permissions,
      permissions_without_effect: [],
      access_scope: 'workspace',
    });
    const path = `/api/v1/organizations/current/roles/${made.id}`;
    const change = { display_name: 'Reader', description: null, permissions: [...permissions].reverse() };
    const changed = await platform.asAdmin<Role>('PATCH', path, change);
    expect(changed.body).toEqual({
      ...made,
      display_name: 'Reader',
      permissions: [...permissions].reverse(),
    });
    expect((await platform.asAdmin<Role[]>('GET', ROLES)).body).toContainEqual(changed.body);
    expect(await platform.asAdmin('PATCH', path, {})).toEqual(changed);
    expect((await remove(made.id)).body).toEqual(changed.body);
    expect((await remove(made.id)).status).toBe(404);
    expect(await people.actions(made.id)).toEqual(['role.created', 'role.updated', 'role.deleted']);
  });

  it('that an earlier release made or renamed has the same constant name as others', async () => {
    const role = await make();
    const member = await people.add({ workspaces: { [workspaceId]: role.id } });
    await people.database.prisma.role.update({ where: { id: role.id }, data: { name: role.display_name } });
    expect((await platform.asAdmin<Role[]>('GET', ROLES)).body).toContainEqual(role);
    const query = new URLSearchParams({ identity: member.identityId, permission: 'runs:read', resource: workspaceId });
    expect((await platform.asAdmin('GET', `/api/v1/orgs/current/access/explain?${query}`)).body).toMatchObject({
      role: { id: role.id, name: 'CUSTOM', display_name: role.display_name },
    });
    const display_name = `Renamed ${randomUUID()}`;
    expect((await platform.asAdmin('PATCH', `${ROLES}/${role.id}`, { display_name })).body).toEqual({
      ...role,
      display_name,
    });
  });

  it.each([
    ['an unknown permission', { permissions: ['runs:read', 'runs:fly'] }, ['body', 'permissions', 1]],
    ['a permission of the organization', { permissions: ['organization:manage'] }, ['body', 'permissions', 0]],
    ['a permission twice', { permissions: ['runs:read', 'runs:read'] }, ['body', 'permissions']],
    ['no name', { display_name: ' ' }, ['body', 'display_name']],
  ])('is refused with %s: 422 with its location', async (_, change, loc) => {
    const body = { display_name: `Role ${randomUUID()}`, permissions: [], ...change };
    expect(await platform.asAdmin('POST', ROLES, body)).toMatchObject({ status: 422, body: { detail: [{ loc }] } });
  });

  it('has a name of its own, also when several are made at once', async () => {
    const display_name = `100% ${randomUUID()}`;
    const at = [display_name, display_name.toUpperCase(), display_name];
    const answers = await Promise.all(
      at.map((name) => platform.asAdmin('POST', ROLES, { display_name: name, permissions: [] })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect((await platform.asAdmin('POST', ROLES, { display_name: 'editor', permissions: [] })).status).toBe(409);
    const other = await make();
    expect((await platform.asAdmin('PATCH', `${ROLES}/${other.id}`, { display_name })).status).toBe(409);
  });

  it('gives its permissions to its holders, and new ones at once, with the sessions of single sign-on ended', async () => {
    const role = await make({ permissions: ['runs:read'] });
    const member = await people.add({ workspaces: { [workspaceId]: role.id } });
    const { key } = await platform.issue({ workspaces: [workspaceId], role_id: role.id });
    const session = { id: uuidv7(), personId: member.personId, tokenSha256: new Uint8Array(Buffer.from(role.id)) };
    const sso = { ssoOrganizationId: platform.bootstrap.organization_id, expiresAt: new Date(Date.now() + 60_000) };
    await people.database.prisma.session.create({ data: { ...session, ...sso } });
    await platform.asAdmin('PATCH', `${ROLES}/${role.id}`, { permissions: ['runs:read', 'runs:create'] });
    for (const credential of [member.token, key]) {
      expect((await permissionsOf(credential)).permissions).toEqual(
        expect.arrayContaining(['runs:create', 'runs:read']),
      );
      expect((await permissionsOf(credential)).permissions).not.toContain('deployments:read');
    }
    const { endReason } = await people.database.prisma.session.findUniqueOrThrow({ where: { id: session.id } });
    expect(endReason).toBe('role_changed');
  });

  it('keeps and shows permissions of LangSmith that mean nothing here, and they give nothing', async () => {
    const useless = ['projects:read', 'annotation-queues:update', 'workspaces:manage-secrets'];
    const permissions = ['runs:read', ...useless, 'workspaces:manage-keys'];
    const role = await make({ permissions });
    expect(role).toMatchObject({ permissions, permissions_without_effect: useless });
    const member = await people.add({ workspaces: { [workspaceId]: role.id } });
    const effective = (await permissionsOf(member.token)).permissions;
    expect(effective).toEqual(expect.arrayContaining(['runs:read', 'workspaces:manage-keys']));
    expect(effective.filter((each) => useless.includes(each))).toEqual([]);
    // A member who has what it gives may give it.
    const key = { role_id: role.id, workspaces: [workspaceId] };
    const keys = '/api/v1/orgs/current/service-keys';
    expect((await platform.call(member.token, 'POST', keys, key, workspaceId)).status).toBe(200);
    // Nobody is signed out for a permission that gives nothing.
    const token = () => platform.verify(member.token, { workspace_id: workspaceId });
    await platform.asAdmin('PATCH', `${ROLES}/${role.id}`, { permissions: ['runs:read', 'workspaces:manage-keys'] });
    expect((await token()).status).toBe(200);
    const { body } = await platform.asAdmin<PermissionMeaning[]>('GET', '/api/v1/orgs/permissions');
    for (const name of useless)
      expect(body).toContainEqual(expect.objectContaining({ name, access_scope: 'workspace', has_effect: false }));
  });

  it('is kept while members, keys, invites or identity providers have it, and the answer names them', async () => {
    const { prisma } = people.database;
    const role = await make();
    const member = await people.add({ name: 'Grace Hopper', workspaces: { [workspaceId]: role.id } });
    const key = await platform.issue({ workspaces: [workspaceId], role_id: role.id, description: 'Nightly' });
    const everywhere = await platform.issue({ role_id: role.id });
    const organizationId = platform.bootstrap.organization_id;
    const invite = await prisma.invite.create({
      data: {
        id: uuidv7(),
        organizationId,
        email: 'invited@example.com',
        organizationRoleId: PLATFORM_ROLES.organizationUser,
        tokenSha256: new Uint8Array(32),
        expiresAt: new Date(Date.now() + 60_000),
        workspaces: { create: { id: uuidv7(), workspaceId, roleId: role.id } },
      },
    });
    expect(await remove(role.id)).toMatchObject({
      status: 409,
      body: { detail: expect.stringMatching(/Grace Hopper.*Nightly.*invited@/) },
    });
    await platform.asAdmin('DELETE', `/api/v1/orgs/current/service-keys/${key.id}`);
    await platform.asAdmin('DELETE', `/api/v1/orgs/current/service-keys/${everywhere.id}`);
    await prisma.invite.update({ where: { id: invite.id }, data: { endedAt: new Date(), outcome: 'withdrawn' } });
    expect((await remove(role.id)).body.detail).toBe('The role is in use: member or key "Grace Hopper"');
    await prisma.identity.update({
      where: { id: member.identityId },
      data: { isRemoved: true, disabledAt: new Date() },
    });
    expect((await remove(role.id)).status).toBe(200);
  });

  it('that is deleted while it is being given is refused by every operation that gives roles', async () => {
    const { prisma } = people.database;
    const [ada, grace] = [await people.add(), await people.add({ workspaces: { [workspaceId]: EDITOR } })];
    const key = await platform.issue({ role_id: EDITOR });
    const orgs = '/api/v1/orgs/current';
    const inWorkspace = '/api/v1/workspaces/current/members';
    const invited = await platform.asAdmin('POST', `${orgs}/members`, {
      ...{ email: 'pending@example.com', workspace_ids: [workspaceId], workspace_role_id: EDITOR },
    });
    expect(invited.status).toBe(200);
    const pending = await prisma.inviteWorkspace.findFirstOrThrow({
      where: { invite: { email: 'pending@example.com' } },
    });
    const newcomer = (more: object = {}) => ({ email: `${randomUUID()}@example.com`, ...more });
    const sso = { issuer_url: 'https://id.example.com', client_id: 'runyard', client_secret: 'secret' };
    const ways: [method: string, path: string, body: (roleId: string) => unknown][] = [
      ['POST', inWorkspace, (role_id) => ({ org_identity_id: ada.identityId, role_id })],
      ['PATCH', `${inWorkspace}/${grace.identityId}`, (role_id) => ({ role_id })],
      ['PATCH', `${inWorkspace}/${pending.id}/pending`, (role_id) => ({ role_id })],
      ['POST', `${inWorkspace}/batch`, (workspace_role_id) => [newcomer({ workspace_role_id })]],
      ['POST', `${orgs}/members`, (workspace_role_id) => newcomer({ workspace_role_id, workspace_ids: [workspaceId] })],
      [
        'POST',
        `${orgs}/members`,
        (workspace_role_id) => newcomer({ workspace_role_id, workspace_ids: [workspaceId], direct: true }),
      ],
      ['POST', `${orgs}/service-keys`, (role_id) => ({ role_id })],
      ['PATCH', `${orgs}/service-keys/${key.id}`, (role_id) => ({ role_id })],
      [
        'POST',
        '/api/v1/service-accounts',
        (role_id) => ({ name: 'A', workspaces: [{ workspace_id: workspaceId, role_id }] }),
      ],
      [
        'POST',
        `${orgs}/sso-settings`,
        (id) => ({ ...sso, default_workspace_role_id: id, default_workspace_ids: [workspaceId] }),
      ],
    ];
    const answers = [];
    for (const [method, path, body] of ways) {
      const role = await make();
      const answer = await whileDeleted(role.id, () =>
        platform.call(platform.bootstrap.api_key, method, path, body(role.id), workspaceId),
      );
      answers.push([method, path, answer.status]);
    }
    expect(answers).toEqual(ways.map(([method, path]) => [method, path, 422]));
  });

  it('is written by administrators of its own organization alone', async () => {
    const role = await make();
    const operator = await people.add({ organizationRole: 'organizationOperator' });
    const body = { display_name: 'Mine', permissions: [...WORKSPACE_PERMISSIONS] };
    expect((await platform.call(operator.token, 'POST', ROLES, body)).status).toBe(403);
    expect((await platform.call(operator.token, 'PATCH', `${ROLES}/${role.id}`, body)).status).toBe(403);
    expect((await platform.call(operator.token, 'DELETE', `${ROLES}/${role.id}`)).status).toBe(403);
    const foreign = await people.database.prisma.organization.create({
      data: {
        id: uuidv7(),
        displayName: 'Foreign',
        roles: {
          create: { id: uuidv7(), accessScope: 'workspace', name: 'X', displayName: 'X', permissions: [], position: 9 },
        },
      },
      include: { roles: true },
    });
    for (const method of ['PATCH', 'DELETE']) {
      const missing = await platform.asAdmin(method, `${ROLES}/${randomUUID()}`, {});
      expect(missing.status).toBe(404);
      expect(await platform.asAdmin(method, `${ROLES}/${foreign.roles[0]!.id}`, {})).toEqual(missing);
      expect((await platform.asAdmin(method, `${ROLES}/${PLATFORM_ROLES.workspaceEditor}`, {})).status).toBe(403);
    }
  });
});

it('every permission is listed with its meaning and its scope', async () => {
  const { body } = await platform.asAdmin<PermissionMeaning[]>('GET', '/api/v1/orgs/permissions');
  const ofWorkspaces = body
    .filter(({ access_scope, has_effect }) => access_scope === 'workspace' && has_effect)
    .map(({ name }) => name);
  expect(ofWorkspaces).toEqual(WORKSPACE_PERMISSIONS);
  expect(body).toContainEqual(expect.objectContaining({ name: 'organization:manage', access_scope: 'organization' }));
});
