import type {
  BasicMember,
  EnrichedMember,
  NewMember,
  OrgMember,
  PasswordLink,
  PendingMember,
} from '@runyard/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeKey } from '../src/access/credentials/key-format.ts';
import { PLATFORM_ROLES } from '../src/access/platform-roles.ts';
import { addGrants, applyGrants } from '../src/access/role-grants.ts';
import { hashSecret } from '../src/database/hash-secret.ts';
import { PageClient } from './support/page-client.ts';
import { TestPeople } from './support/people.ts';
import { TestOrgAccess } from './support/platform.ts';

const MEMBERS = '/api/v1/orgs/current/members';
const { organizationAdmin, organizationOperator, organizationUser, organizationViewer } = PLATFORM_ROLES;

let platform: TestOrgAccess;
let people: TestPeople;
beforeAll(async () => {
  platform = await TestOrgAccess.start();
  people = await TestPeople.open(platform);
});
afterAll(async () => {
  await people?.close();
  await platform?.close();
});

/** Makes a person a member by hand, signed in. */
async function member(roleId: string, email = `${crypto.randomUUID()}@example.com`) {
  const personId = await people.addPerson(email);
  const organizationId = platform.bootstrap.organization_id;
  const identityId = await people.addMember(personId, organizationId, [{ workspaceId: null, roleId }]);
  const signIn = async () => (await people.signIn(personId)).token;
  return { personId, identityId, email, signIn };
}

/** Calls as a person, in the default organization. */
async function callAs<Body>(token: string, method: string, path: string, body?: unknown) {
  return platform.callAs<Body>({ token, organizationId: platform.bootstrap.organization_id }, method, path, body);
}

const rolesOf = async (identityId: string) => {
  const { body } = await platform.asAdmin<OrgMember[]>('GET', `${MEMBERS}/active?limit=500`);
  return body.find(({ id }) => id === identityId);
};

describe('members', () => {
  it('are added directly or invited, and read as the Terraform provider reads them', async () => {
    const added = await platform.asAdmin<NewMember>('POST', MEMBERS, {
      email: ' Direct@Example.com',
      direct: true,
      role_id: organizationViewer,
      workspace_ids: [platform.bootstrap.workspace_id],
    });
    expect(added).toMatchObject({
      status: 200,
      body: { email: 'direct@example.com', is_pending: false, invite_link: null, role_id: organizationViewer },
    });
    const invited = await platform.asAdmin<NewMember>('POST', MEMBERS, { email: 'invited@example.com' });
    expect(invited.body).toMatchObject({ is_pending: true, role_id: organizationUser });
    expect(invited.body.invite_link).toMatch(/^http:\/\/localhost:2024\/login\/invite\?token=[\w-]{43}$/);
    const query = (email: string) => `?emails=${email}&limit=100&sort_by=created_at&sort_by_desc=true`;
    const active = await platform.asAdmin<OrgMember[]>('GET', `${MEMBERS}/active${query('direct@example.com')}`);
    expect(active.body).toMatchObject([
      {
        id: added.body.id,
        role_id: organizationViewer,
        role_name: 'Organization Viewer',
        is_disabled: false,
        user_id: null,
        tenant_ids: [platform.bootstrap.workspace_id],
      },
    ]);
    const pending = await platform.asAdmin<PendingMember[]>('GET', `${MEMBERS}/pending${query('invited@example.com')}`);
    expect(pending.body).toMatchObject([
      { id: invited.body.id, email: 'invited@example.com', role_id: organizationUser },
    ]);
    expect(JSON.stringify(pending.body)).not.toContain('token=');
    const both = await platform.asAdmin<{ members: OrgMember[]; pending: PendingMember[] }>(
      'GET',
      '/api/v1/organizations/current/members',
    );
    expect(both.body.members.map(({ id }) => id)).toContain(added.body.id);
    expect(both.body.pending.map(({ id }) => id)).toContain(invited.body.id);
    expect(await platform.dump()).not.toContain(invited.body.invite_link!.split('token=')[1]);
    const again = await platform.asAdmin<{ detail: string }>('POST', MEMBERS, { email: 'direct@example.com' });
    expect(again).toMatchObject({ status: 409, body: { detail: 'direct@example.com is a member already' } });
  });

  it('are found by name, address, login, person and state, in every order, page by page', async () => {
    const names = ['Pia Ä', 'Paul_1', 'Petra%'];
    const added: NewMember[] = [];
    for (const [index, full_name] of names.entries()) {
      const email = `page${3 - index}@paging.example`;
      added.push((await platform.asAdmin<NewMember>('POST', MEMBERS, { email, full_name, direct: true })).body);
    }
    const emails = async (query: string) => {
      const { status, body } = await platform.asAdmin<OrgMember[]>('GET', `${MEMBERS}/active?${query}`);
      expect(status, query).toBe(200);
      return body.map(({ email }) => email.split('@')[0]);
    };
    expect(await emails('q=PAGING.example')).toEqual(['page1', 'page2', 'page3']);
    expect(await emails('q=paging.example&sort_by_desc=false')).toEqual(['page3', 'page2', 'page1']);
    expect(await emails('q=paging.example&sort_by=name&sort_by_desc=false')).toEqual(['page2', 'page1', 'page3']);
    expect(await emails('q=paging.example&sort_by=email&sort_by_desc=false')).toEqual(['page1', 'page2', 'page3']);
    expect(await emails('q=paging.example&sort_by=role&limit=2&offset=2')).toHaveLength(1);
    expect(await emails('q=%25')).toEqual(['page1']);
    expect(await emails('q=_')).toEqual(['page2']);
    expect(await emails('q=pia')).toEqual(['page3']);
    const [first] = await people.database.prisma.identity.findMany({ where: { id: added[0]!.id } });
    expect(await emails(`ls_user_ids=${first!.personId}`)).toEqual(['page3']);
    const login = await people.database.prisma.login.create({
      data: {
        id: crypto.randomUUID(),
        personId: first!.personId!,
        provider: 'email',
        issuer: '',
        subject: 'page3@paging.example',
        email: 'page3@paging.example',
        provisioning: 'manual',
      },
    });
    expect(await emails(`user_ids=${login.id}`)).toEqual(['page3']);
    expect(await emails('q=paging.example&is_disabled=true')).toEqual([]);
    for (const bad of ['limit=0', 'limit=501', 'offset=-1', 'sort_by=age', 'user_ids=x'])
      expect((await platform.asAdmin('GET', `${MEMBERS}/active?${bad}`)).status, bad).toBe(422);
  });

  it('are made and invited in batches of up to 500: all or none', async () => {
    const batch = Array.from({ length: 120 }, (_, index) => ({ email: `batch${index}@example.com` }));
    const direct = ['', ...Array.from({ length: 379 }, (_, index) => index)].map((name) => ({
      email: `batch-direct${name}@example.com`,
      direct: true,
    }));
    const made = await platform.asAdmin<NewMember[]>('POST', `${MEMBERS}/batch`, [...batch, ...direct]);
    expect(made.status).toBe(200);
    expect(made.body.map(({ email }) => email)).toEqual([...batch, ...direct].map(({ email }) => email));
    const failing: [unknown[], number, unknown][] = [
      [[{ email: 'new1@example.com' }, { email: 'NEW1@example.com' }], 422, [{ loc: ['body', 1, 'email'] }]],
      [[{ email: 'new1@example.com' }, { email: 'no address' }], 422, [{ loc: ['body', 1, 'email'] }]],
      [
        [{ email: 'new1@example.com' }, { email: 'batch-direct@example.com' }],
        409,
        'batch-direct@example.com is a member already',
      ],
      [
        [{ email: 'new1@example.com' }, { email: 'new2@example.com', role_id: crypto.randomUUID() }],
        422,
        [{ loc: ['body', 1, 'role_id'] }],
      ],
      [
        [{ email: 'new1@example.com', workspace_ids: [crypto.randomUUID()] }],
        422,
        [{ loc: ['body', 0, 'workspace_ids'] }],
      ],
      [
        [{ email: 'new1@example.com', workspace_role_id: PLATFORM_ROLES.workspaceUser }],
        422,
        [{ loc: ['body', 0, 'workspace_role_id'] }],
      ],
      [[], 422, [{ loc: ['body'] }]],
      [Array.from({ length: 501 }, (_, index) => ({ email: `many${index}@example.com` })), 422, [{ loc: ['body'] }]],
    ];
    for (const [body, status, detail] of failing)
      expect(await platform.asAdmin('POST', `${MEMBERS}/batch`, body)).toMatchObject({ status, body: { detail } });
    expect(await people.database.prisma.invite.count({ where: { email: 'new1@example.com' } })).toBe(0);
  });

  it('and invites are listed together with groups, workspaces and logins, by globs', async () => {
    const organizationId = platform.bootstrap.organization_id;
    const place = { workspace_ids: [platform.bootstrap.workspace_id], workspace_role_id: PLATFORM_ROLES.workspaceUser };
    const added = await platform.asAdmin<NewMember[]>('POST', `${MEMBERS}/batch`, [
      { email: 'one@glob.example', full_name: 'Glob One', direct: true, role_id: organizationOperator },
      { email: 'two@glob.example', ...place },
      { email: 'three_3@glob.example', direct: true, ...place },
    ]);
    const [one] = added.body;
    const group = await people.database.prisma.scimGroup.create({
      data: { id: crypto.randomUUID(), organizationId, displayName: 'Glob group' },
    });
    await people.database.prisma.scimUser.create({
      data: {
        ...{ id: crypto.randomUUID(), organizationId, identityId: one!.id, userName: 'one', userNameKey: 'one' },
        ...{ email: 'one@glob.example', isActive: true, groups: { create: { groupId: group.id } } },
      },
    });
    const list = async (query: string) => {
      const { status, body } = await platform.asAdmin<EnrichedMember[]>(
        'GET',
        `/api/v1/platform/orgs/current/members?email_like=*@GLOB.example&${query}`,
      );
      expect(status, query).toBe(200);
      return body;
    };
    const found = async (query: string) => (await list(query)).map(({ email }) => email.split('@')[0]);
    expect(await found('')).toEqual(['one', 'three_3', 'two']);
    expect(await found('limit=1&offset=1')).toEqual(['three_3']);
    expect(await found('active_is=true')).toEqual(['one', 'three_3']);
    expect(await found('pending_is=true')).toEqual(['two']);
    expect(await found('name_like=glob*')).toEqual(['one']);
    expect(await found('name_like=*_3@*&name_like=two@*')).toEqual(['three_3', 'two']);
    expect(await found('organization_role_like=*operator')).toEqual(['one']);
    expect(await found('workspace_name_like=workspace*')).toEqual(['three_3', 'two']);
    expect(await found(`workspace_name_like=${platform.bootstrap.workspace_id}&workspace_role_like=viewer`)).toEqual(
      [],
    );
    expect(await found('workspace_role_like=user&pending_is=false')).toEqual(['three_3']);
    expect((await list('name_like=glob*'))[0]).toMatchObject({
      id: one!.id,
      is_pending: false,
      role_name: 'Organization Operator',
      scim_groups: [{ name: 'Glob group', created_at: expect.any(String) }],
      workspace_memberships: [],
    });
    expect((await list('pending_is=true'))[0]).toMatchObject({
      ls_user_id: null,
      workspace_memberships: [{ workspace_name: 'Workspace 1', role_name: 'User' }],
    });
  });

  it('lose sessions and personal tokens when they are removed, stay in the database, and may come back', async () => {
    const bob = await member(organizationUser);
    const token = await bob.signIn();
    const pat = makeKey('personal_token');
    const organizationId = platform.bootstrap.organization_id;
    const { id: keyId } = await people.database.prisma.apiKey.create({
      data: {
        ...{ id: crypto.randomUUID(), organizationId, identityId: bob.identityId, kind: 'personal_token' },
        ...{ keySha256: hashSecret(pat), shortKey: 'x', description: 'x' },
      },
    });
    expect((await platform.verify(pat)).status).toBe(200);
    const removed = await platform.asAdmin<OrgMember>('DELETE', `${MEMBERS}/${bob.identityId}`);
    expect(removed).toMatchObject({ status: 200, body: { id: bob.identityId, email: bob.email } });
    expect((await platform.verify(pat)).status).toBe(401);
    expect((await platform.verify(token)).status).toBe(401);
    expect(await people.database.prisma.apiKey.findFirst({ where: { id: keyId } })).toMatchObject({
      revokedAt: expect.any(Date),
    });
    expect(await people.database.prisma.identity.findFirst({ where: { id: bob.identityId } })).toMatchObject({
      isRemoved: true,
    });
    expect((await platform.asAdmin('DELETE', `${MEMBERS}/${bob.identityId}`)).status).toBe(404);
    expect(
      (await platform.asAdmin('PATCH', `${MEMBERS}/${bob.identityId}`, { role_id: organizationUser })).status,
    ).toBe(404);
    const back = await platform.asAdmin<NewMember>('POST', MEMBERS, { email: bob.email, direct: true });
    expect(back).toMatchObject({ status: 200, body: { is_pending: false } });
    expect(back.body.id).not.toBe(bob.identityId);
    const actions = await people.database.prisma.auditEvent.findMany({
      where: { organizationId, resourceId: bob.identityId },
      select: { action: true },
    });
    expect(actions.map(({ action }) => action)).toEqual(['member.removed']);
  });

  it('of another organization look as if they did not exist', async () => {
    const { organizationId } = await people.addOrganization();
    const stranger = await people.addMember(await people.addPerson(), organizationId, [
      { workspaceId: null, roleId: organizationUser },
    ]);
    for (const [method, body] of [
      ['PATCH', { role_id: organizationViewer }],
      ['DELETE', undefined],
    ] as const) {
      const there = await platform.asAdmin(method, `${MEMBERS}/${stranger}`, body);
      const nowhere = await platform.asAdmin(method, `${MEMBERS}/${crypto.randomUUID()}`, body);
      expect(there).toEqual(nowhere);
      expect(there.status).toBe(404);
    }
    expect(await rolesOf(stranger)).toBeUndefined();
  });
});

describe('roles of members', () => {
  it('are changed by administrators, and by operators among users and viewers alone', async () => {
    const [admin, operator, user] = [
      await member(organizationAdmin),
      await member(organizationOperator),
      await member(organizationUser),
    ];
    const token = await operator.signIn();
    const patch = (identityId: string, role_id: string) =>
      callAs(token, 'PATCH', `${MEMBERS}/${identityId}`, { role_id });
    expect((await patch(user.identityId, organizationViewer)).status).toBe(200);
    expect((await rolesOf(user.identityId))!.role_id).toBe(organizationViewer);
    for (const role of [organizationAdmin, organizationOperator])
      expect((await patch(user.identityId, role)).status).toBe(403);
    for (const { identityId } of [admin, operator]) {
      expect((await patch(identityId, organizationUser)).status).toBe(403);
      expect((await callAs(token, 'DELETE', `${MEMBERS}/${identityId}`)).status).toBe(403);
    }
    const add = (body: object) =>
      callAs(token, 'POST', MEMBERS, { email: `${crypto.randomUUID()}@example.com`, ...body });
    expect((await add({})).status).toBe(200);
    expect((await add({ role_id: organizationOperator })).status).toBe(403);
    // The operator is in no workspace, so cannot let others in.
    expect((await add({ workspace_ids: [platform.bootstrap.workspace_id] })).status).toBe(403);
    expect((await callAs(await user.signIn(), 'POST', MEMBERS, { email: 'x@example.com' })).status).toBe(403);
    expect((await platform.asAdmin('DELETE', `${MEMBERS}/${admin.identityId}`)).status).toBe(409);
    const second = await member(organizationAdmin);
    expect((await platform.asAdmin('DELETE', `${MEMBERS}/${admin.identityId}`)).status).toBe(200);
    expect(
      (await platform.asAdmin('PATCH', `${MEMBERS}/${second.identityId}`, { role_id: organizationUser })).status,
    ).toBe(409);
  });

  it('that a group of SCIM decides are not changed by hand', async () => {
    const ada = await member(organizationUser);
    const organizationId = platform.bootstrap.organization_id;
    const group = await people.database.prisma.scimGroup.create({
      data: { id: crypto.randomUUID(), organizationId, displayName: 'Acme Operators' },
    });
    await people.database.transact(async (transaction) => {
      await addGrants(transaction, organizationId, [
        {
          ...{ identityId: ada.identityId, workspaceId: null, roleId: organizationOperator },
          ...{ source: 'scim_group', sourceId: group.id },
        },
      ]);
      await applyGrants(transaction, organizationId, [ada.identityId]);
    });
    const answer = await platform.asAdmin('PATCH', `${MEMBERS}/${ada.identityId}`, { role_id: organizationUser });
    expect(answer).toMatchObject({ status: 409, body: { detail: expect.stringContaining('"Acme Operators"') } });
  });
});

describe('invites', () => {
  it('replace earlier ones, are withdrawn, and are refused where they are disabled', async () => {
    const email = 'grace@example.com';
    const [first, second] = [
      await platform.asAdmin<NewMember>('POST', MEMBERS, { email }),
      await platform.asAdmin<NewMember>('POST', MEMBERS, { email, role_id: organizationViewer }),
    ];
    const pending = async () =>
      (await platform.asAdmin<PendingMember[]>('GET', `${MEMBERS}/pending?emails=${email}`)).body;
    expect((await pending()).map(({ id }) => id)).toEqual([second.body.id]);
    expect((await platform.asAdmin('DELETE', `${MEMBERS}/${first.body.id}/pending`)).status).toBe(404);
    const info = '/api/v1/orgs/current/info';
    await platform.asAdmin('PATCH', info, { invites_enabled: false });
    expect(await platform.asAdmin('POST', MEMBERS, { email: 'new@example.com' })).toMatchObject({
      status: 403,
      body: { detail: 'Invites are disabled for this organization' },
    });
    const direct = { email: 'new@example.com', direct: true };
    expect((await platform.asAdmin('POST', MEMBERS, direct)).status).toBe(200);
    expect(await pending()).toHaveLength(1);
    await platform.asAdmin('PATCH', info, { invites_enabled: true });
    expect((await platform.asAdmin('DELETE', `${MEMBERS}/${second.body.id}/pending`)).body).toMatchObject({ email });
    expect(await pending()).toEqual([]);
  });

  it('for one address at once end in one', async () => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => platform.asAdmin('POST', MEMBERS, { email: 'race@example.com' })),
    );
    expect(answers.map(({ status }) => status).filter((status) => status >= 500)).toEqual([]);
    const { body } = await platform.asAdmin<PendingMember[]>('GET', `${MEMBERS}/pending?emails=race@example.com`);
    expect(body).toHaveLength(1);
  });
});

describe('accounts of members', () => {
  const BASIC = `${MEMBERS}/basic/batch`;
  const PASSWORD = 'seven grey herons asleep';
  const OTHER_PASSWORD = 'a lighthouse keeps no diary';
  let addresses = 0;
  const newBrowser = () => new PageClient(platform.service.url, `198.51.100.${++addresses}`);
  /** Returns whether somebody gets in with a password. */
  const getsIn = async (email: string, password: string) =>
    (await newBrowser().submit('/auth/password', { email, password })).path === '/auth/account';

  async function makeAccount(fields: object = {}) {
    const email = `${crypto.randomUUID()}@basic.example`;
    const { status, body } = await platform.asAdmin<BasicMember[]>('POST', BASIC, [{ email, ...fields }]);
    expect(status).toBe(200);
    return body[0]!;
  }

  it('are made with a given or a generated password, which one answer shows, all or none', async () => {
    const made = await platform.asAdmin<BasicMember[]>('POST', '/api/v1/organizations/current/members/basic/batch', [
      { email: 'Given@basic.example', full_name: 'Ada', password: PASSWORD, role_id: organizationViewer },
      { email: 'generated@basic.example', workspace_ids: [platform.bootstrap.workspace_id] },
    ]);
    expect(made).toMatchObject({
      status: 200,
      body: [
        { email: 'given@basic.example', full_name: 'Ada', password: PASSWORD, role_id: organizationViewer },
        { password: expect.stringMatching(/^[\w-]{24}$/), tenant_ids: [platform.bootstrap.workspace_id] },
      ],
    });
    for (const { email, password } of made.body) expect(await getsIn(email, password), email).toBe(true);
    expect(made.body[0]!.linked_login_methods).toMatchObject([{ provider: 'email', provisioning: 'manual' }]);
    const one = { email: 'one@basic.example' };
    const failing: [unknown[], number, unknown][] = [
      [[one, { email: 'two@basic.example', password: 'password1234' }], 422, [{ loc: ['body', 1, 'password'] }]],
      [[one, { email: 'two@basic.example', password: '' }], 422, [{ loc: ['body', 1, 'password'] }]],
      [[one, { email: 'ONE@basic.example' }], 422, [{ loc: ['body', 1, 'email'] }]],
      [[one, { email: 'given@basic.example' }], 409, 'given@basic.example is a member already'],
      [[], 422, [{ loc: ['body'] }]],
    ];
    for (const [body, status, detail] of failing)
      expect(await platform.asAdmin('POST', BASIC, body)).toMatchObject({ status, body: { detail } });
    expect(await people.database.prisma.person.count({ where: one })).toBe(0);
    const elsewhere = await platform.asAdmin('POST', MEMBERS, { ...one, password: PASSWORD });
    expect(elsewhere).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'password'] }] } });
    const inWorkspace = await platform.call(
      platform.bootstrap.api_key,
      'POST',
      '/api/v1/workspaces/current/members/batch',
      [{ ...one, password: PASSWORD }],
      platform.bootstrap.workspace_id,
    );
    expect(inWorkspace).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 0, 'password'] }] } });
    const [dump, output] = [await platform.dump(), platform.output()];
    for (const { password } of made.body) {
      expect(dump).not.toContain(password);
      expect(output).not.toContain(password);
    }
  });

  it('are not made for who has one, also of a former member', async () => {
    const proven = `${crypto.randomUUID()}@basic.example`;
    const personId = await people.addPerson(proven);
    await people.database.prisma.person.update({ where: { id: personId }, data: { emailVerifiedAt: new Date() } });
    const former = await makeAccount();
    await platform.asAdmin('DELETE', `${MEMBERS}/${former.id}`);
    for (const email of [proven, former.email])
      expect(await platform.asAdmin('POST', BASIC, [{ email, password: OTHER_PASSWORD }])).toMatchObject({
        status: 409,
        body: { detail: `There are accounts with these addresses: ${email}` },
      });
    expect(await getsIn(proven, OTHER_PASSWORD)).toBe(false);
    const twice = await Promise.all(
      [1, 2, 3].map(() => platform.asAdmin('POST', BASIC, [{ email: 'twice@basic.example' }])),
    );
    expect(twice.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  });

  it('get another password by PATCH, which ends their sessions and forgets that the address was proven', async () => {
    const account = await makeAccount({ password: PASSWORD });
    const personId = account.ls_user_id;
    await people.database.prisma.person.update({ where: { id: personId }, data: { emailVerifiedAt: new Date() } });
    const { token } = await people.signIn(personId);
    const path = `${MEMBERS}/${account.id}`;
    const weak = await platform.asAdmin('PATCH', path, { password: 'password1234', full_name: 'Weak' });
    expect(weak).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'password'] }] } });
    const changed = await platform.asAdmin('PATCH', path, { password: OTHER_PASSWORD, full_name: 'Grace' });
    expect(changed).toMatchObject({ status: 200, body: { full_name: 'Grace' } });
    expect(changed.body).not.toHaveProperty('password');
    expect((await platform.verify(token)).status).toBe(401);
    expect([await getsIn(account.email, PASSWORD), await getsIn(account.email, OTHER_PASSWORD)]).toEqual([false, true]);
    const person = await people.database.prisma.person.findUnique({ where: { id: personId } });
    expect(person).toMatchObject({ emailVerifiedAt: null, fullName: 'Grace' });
    const events = await people.database.prisma.auditEvent.findMany({ where: { resourceId: account.id } });
    expect(events.map(({ action }) => action).sort()).toEqual([
      'member.account_created',
      'member.added',
      'member.password_changed',
      'member.renamed',
    ]);
    expect(await platform.dump()).not.toContain(OTHER_PASSWORD);
  });

  it('get a new password by a link of an administrator, which works once', async () => {
    const account = await makeAccount({ password: PASSWORD });
    const answer = await platform.asAdmin<PasswordLink>('POST', `${MEMBERS}/${account.id}/password-link`);
    expect(answer.status).toBe(200);
    expect(answer.body.link).toMatch(/^http:\/\/localhost:2024\/auth\/new-password\?token=[\w-]{43}$/);
    const { pathname, search, searchParams } = new URL(answer.body.link);
    const browser = newBrowser();
    const page = await browser.open(pathname + search);
    const set = () => browser.submit(pathname, { password: OTHER_PASSWORD }, page);
    expect([(await set()).status, (await set()).status]).toEqual([200, 400]);
    expect([await getsIn(account.email, PASSWORD), await getsIn(account.email, OTHER_PASSWORD)]).toEqual([false, true]);
    expect(await platform.dump()).not.toContain(searchParams.get('token'));
    const direct = await platform.asAdmin<NewMember>('POST', MEMBERS, { email: 'link@basic.example', direct: true });
    expect((await platform.asAdmin('POST', `${MEMBERS}/${direct.body.id}/password-link`)).status).toBe(200);
  });

  it('lose their second factors by an administrator, with their sessions, where the account is the organization’s alone', async () => {
    const account = await makeAccount({ password: PASSWORD });
    const personId = account.ls_user_id;
    const { prisma } = people.database;
    await prisma.totpCredential.create({ data: { personId, encryptedSecret: 'x', confirmedAt: new Date() } });
    await prisma.passkey.create({
      data: {
        ...{ id: crypto.randomUUID(), personId, name: 'Lost', credentialId: Buffer.from(personId) },
        ...{ publicKey: Buffer.from('x'), counter: 0, transports: [] },
      },
    });
    await prisma.recoveryCode.create({ data: { personId, codeSha256: Buffer.alloc(32) } });
    const { token } = await people.signIn(personId);
    expect(await getsIn(account.email, PASSWORD)).toBe(false);
    const path = `${MEMBERS}/${account.id}/second-factors`;
    expect([(await platform.asAdmin('DELETE', path)).status, (await platform.asAdmin('DELETE', path)).status]).toEqual([
      204, 204,
    ]);
    expect(await getsIn(account.email, PASSWORD)).toBe(true);
    expect((await platform.verify(token)).status).toBe(401);
    const [event] = await prisma.auditEvent.findMany({
      where: { resourceId: account.id, action: 'member.second_factors_removed' },
      orderBy: { sequence: 'asc' },
    });
    expect(event).toMatchObject({ before: { apps: 1, passkeys: 1, recoveryCodes: 1 } });
    const { organizationId } = await people.addOrganization();
    await people.addMember(personId, organizationId, [{ workspaceId: null, roleId: organizationUser }]);
    expect(await platform.asAdmin('DELETE', path)).toMatchObject({
      status: 409,
      body: { detail: 'Only the person changes these second factors' },
    });
  });

  it('get no password from an organization that is not the only one, or where a provider signs them in', async () => {
    const [shared, federated, later] = [await makeAccount(), await makeAccount(), await makeAccount()];
    const { organizationId } = await people.addOrganization();
    const join = (personId: string) =>
      people.addMember(personId, organizationId, [{ workspaceId: null, roleId: organizationUser }]);
    await join(shared.ls_user_id);
    await people.database.prisma.login.create({
      data: {
        ...{ id: crypto.randomUUID(), personId: federated.ls_user_id, provider: 'custom-oidc', issuer: 'https://i' },
        ...{ subject: federated.id, email: federated.email, provisioning: 'oidc:jit' },
      },
    });
    const { link } = (await platform.asAdmin<PasswordLink>('POST', `${MEMBERS}/${later.id}/password-link`)).body;
    await join(later.ls_user_id);
    for (const { id, email } of [shared, federated, later]) {
      const refused = { status: 409, body: { detail: 'Only the person sets this password' } };
      const patch = { password: OTHER_PASSWORD };
      expect(await platform.asAdmin('PATCH', `${MEMBERS}/${id}`, patch)).toMatchObject(refused);
      expect(await platform.asAdmin('POST', `${MEMBERS}/${id}/password-link`)).toMatchObject(refused);
      expect(await getsIn(email, OTHER_PASSWORD)).toBe(false);
    }
    const { pathname, search } = new URL(link);
    const browser = newBrowser();
    const page = await browser.open(pathname + search);
    expect((await browser.submit(pathname, { password: OTHER_PASSWORD }, page)).status).toBe(400);
    expect(await getsIn(later.email, OTHER_PASSWORD)).toBe(false);
  });

  it('are made, and their passwords set, by administrators alone', async () => {
    const token = await (await member(organizationOperator)).signIn();
    const account = await makeAccount();
    const calls: [string, string, unknown][] = [
      ['POST', BASIC, [{ email: 'operators@basic.example' }]],
      ['PATCH', `${MEMBERS}/${account.id}`, { password: OTHER_PASSWORD }],
      ['POST', `${MEMBERS}/${account.id}/password-link`, undefined],
      ['DELETE', `${MEMBERS}/${account.id}/second-factors`, undefined],
    ];
    for (const [method, path, body] of calls) expect((await callAs(token, method, path, body)).status, path).toBe(403);
    expect((await callAs(token, 'PATCH', `${MEMBERS}/${account.id}`, { full_name: 'Ada' })).status).toBe(200);
    const admin = await member(organizationAdmin);
    const own = await callAs(await admin.signIn(), 'PATCH', `${MEMBERS}/${admin.identityId}`, {
      password: OTHER_PASSWORD,
    });
    expect(own).toMatchObject({ status: 409, body: { detail: 'You change your own password at /auth/account' } });
    const nobody = `${MEMBERS}/${crypto.randomUUID()}`;
    expect((await platform.asAdmin('PATCH', nobody, { password: OTHER_PASSWORD })).status).toBe(404);
    expect((await platform.asAdmin('POST', `${nobody}/password-link`)).status).toBe(404);
  });
});
