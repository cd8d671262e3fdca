import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLATFORM_ROLES } from '../src/access/platform-roles.ts';
import { type Database, openDatabase } from '../src/database/database.ts';
import { TestOrgAccess } from './support/platform.ts';
import { ENTERPRISE, GROUP, PATCH, ScimClient, USER } from './support/scim-client.ts';

const migrationsDir = fileURLToPath(new URL('../prisma/migrations', import.meta.url));

let platform: TestOrgAccess;
let database: Database;
let scim: ScimClient;
let organizationId: string;
beforeAll(async () => {
  platform = await TestOrgAccess.start();
  organizationId = platform.bootstrap.organization_id;
  database = await openDatabase({ connectionString: platform.database.url, poolSize: 2, migrationsDir });
  scim = await ScimClient.create(platform);
});
afterAll(async () => {
  await database?.close();
  await platform?.close();
});

const identityOf = async (userId: string) => {
  const user = await database.prisma.scimUser.findUniqueOrThrow({ where: { id: userId } });
  return database.prisma.identity.findFirstOrThrow({
    where: { id: user.identityId },
    include: { organizationRole: true, members: { include: { workspace: true, role: true } }, person: true },
  });
};
/** The roles of a user, in the organization and by workspace. */
const rolesOf = async (userId: string) => {
  const { organizationRole, members } = await identityOf(userId);
  const workspaces = members.map(({ workspace, role }) => [workspace.displayName, role.displayName]);
  return [organizationRole.displayName, Object.fromEntries(workspaces)];
};
const createUser = async (name: string, more?: object) => {
  const { status, body } = await scim.createUser(name, more);
  expect(body).toMatchObject({ id: expect.any(String) });
  expect(status).toBe(201);
  return body.id as string;
};
const scimType = (answer: { status: number; body: { scimType?: string } }) => [answer.status, answer.body.scimType];

describe('a request', () => {
  it.each([
    ['no token', {}],
    ['a key of the platform', { authorization: 'Bearer lsv2_sk_x' }],
    ['an unknown token', { authorization: `Bearer ryscim_${'0'.repeat(64)}` }],
  ])('with %s is refused in the form of SCIM, before its body is read', async (_, headers) => {
    const answer = await fetch(`${platform.service.url}/scim/v2/Users`, { method: 'POST', headers, body: '{' });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('content-type')).toBe('application/scim+json');
    expect(await answer.json()).toEqual({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
      status: '401',
      detail: 'Invalid SCIM token',
    });
  });

  it('with a token is good while the token is, whose last use is shown', async () => {
    const path = '/v1/platform/orgs/current/scim/tokens';
    const { body } = await platform.asAdmin<{ id: string; token: string }>('POST', path, { description: 'rotated' });
    const client = new ScimClient(platform, body.token);
    expect((await client.get('/Users')).status).toBe(200);
    const shown = await platform.asAdmin<{ last_used_at: string | null }>('GET', `${path}/${body.id}`);
    expect(shown.body.last_used_at).not.toBeNull();
    await platform.asAdmin('DELETE', `${path}/${body.id}`);
    expect((await client.get('/Users')).status).toBe(401);
    expect((await scim.get('/Users')).status).toBe(200);
  });

  it('of HTTP/1.0 is asked to upgrade', async () => {
    const { hostname, port } = new URL(platform.service.url);
    const socket = connect(Number(port), hostname);
    socket.write('GET /scim/v2/Users HTTP/1.0\r\nhost: x\r\n\r\n');
    let text = '';
    for await (const chunk of socket) text += chunk;
    expect(text).toMatch(/^HTTP\/1.1 426 /);
  });

  it.each([
    ['JSON that is none', '{', 400, 'invalidSyntax'],
    ['no schema', { userName: 'x' }, 400, 'invalidSyntax'],
    ['no work address', { schemas: [USER], userName: 'x' }, 400, 'invalidValue'],
    ['an address that is none', { schemas: [USER], emails: [{ value: 'x y' }] }, 400, 'invalidValue'],
    ['a text in place of an object', { schemas: [USER], name: 'x', emails: [{ value: 'a@b' }] }, 400, 'invalidValue'],
    ['characters that are none', { schemas: [USER], emails: [{ value: 'a@b' }], title: '\0' }, 400, 'invalidValue'],
    ['a list in place of the resource', [], 400, 'invalidSyntax'],
  ])('to create a user with %s is refused', async (_, body, status, type) => {
    expect(scimType(await scim.send('POST', '/Users', body))).toEqual([status, type]);
  });

  it('with another content type is refused, and of another method than the path has', async () => {
    expect((await scim.send('POST', '/Users', 'x=1', { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await scim.send('DELETE', '/Users')).status).toBe(405);
    const answer = await scim.get('/Nothing');
    expect([answer.status, answer.body.schemas]).toEqual([404, ['urn:ietf:params:scim:api:messages:2.0:Error']]);
  });
});

describe('discovery', () => {
  it('says what is supported, and refuses what is not', async () => {
    const { body } = await scim.get('/ServiceProviderConfig');
    expect(body).toMatchObject({ patch: { supported: true }, bulk: { supported: false }, sort: { supported: false } });
    expect((await scim.send('POST', '/Bulk', {})).status).toBe(501);
    for (const method of ['GET', 'PUT', 'DELETE']) expect((await scim.send(method, '/Me')).status).toBe(501);
  });

  it('lists resource types and schemas, each at its own address, without a filter', async () => {
    for (const [path, ids] of [
      ['/ResourceTypes', ['User', 'Group']],
      ['/Schemas', [USER, ENTERPRISE, GROUP]],
    ] as const) {
      const { body } = await scim.get(path);
      expect(body.Resources.map(({ id }: { id: string }) => id)).toEqual(ids);
      expect((await scim.get(`${path}/${ids[0]}`)).body).toEqual(body.Resources[0]);
      expect((await scim.get(`${path}?filter=id+pr`)).status).toBe(403);
      expect((await scim.get(`${path}/none`)).status).toBe(404);
    }
  });
});

describe('a user', () => {
  it('becomes a member with the least role, and is found by the address of its answer', async () => {
    const created = await scim.send(
      'POST',
      '/Users',
      {
        schemas: [USER, ENTERPRISE],
        userName: 'Ada@Example.com',
        externalId: 'ada',
        name: { givenName: 'Ada', familyName: 'Lovelace', unknown: 'x' },
        emails: [{ type: 'work', value: 'Ada@Example.com' }],
        ACTIVE: 'True',
        id: 'ignored',
        groups: [{ value: 'ignored' }],
        unknown: 1,
        [ENTERPRISE]: { department: 'Engines', manager: 'boss' },
      },
      { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'run.example.com', 'x-forwarded-prefix': '/api' },
    );
    expect(created.status).toBe(201);
    const { id } = created.body;
    expect(created.headers.get('location')).toBe(`https://run.example.com/api/scim/v2/Users/${id}`);
    expect(created.headers.get('etag')).toBe('W/"1"');
    expect(created.body).toEqual({
      schemas: [USER, ENTERPRISE],
      id,
      externalId: 'ada',
      userName: 'Ada@Example.com',
      active: true,
      name: { givenName: 'Ada', familyName: 'Lovelace' },
      emails: [{ type: 'work', value: 'Ada@Example.com' }],
      [ENTERPRISE]: { department: 'Engines', manager: { value: 'boss' } },
      meta: expect.objectContaining({ location: created.headers.get('location'), resourceType: 'User' }),
    });
    expect((await scim.get(`/Users/${id}`)).body.name).toEqual(created.body.name);
    const { name, person } = await identityOf(id);
    expect([name, person?.email, await rolesOf(id)]).toEqual([
      'Ada Lovelace',
      'ada@example.com',
      ['Organization User', {}],
    ]);
  });

  it('is the member with that address where there is one, who keeps their roles and id', async () => {
    const person = await database.prisma.person.create({ data: { id: uuidv7(), email: 'manual@example.com' } });
    const role = await database.prisma.role.findFirstOrThrow({ where: { name: 'ORGANIZATION_OPERATOR' } });
    const identity = await database.prisma.identity.create({
      data: {
        id: uuidv7(),
        organizationId,
        kind: 'person',
        personId: person.id,
        name: 'm',
        organizationRoleId: role.id,
        grants: { create: { id: uuidv7(), roleId: role.id, source: 'manual' } },
      },
    });
    const id = await createUser('manual');
    expect([(await identityOf(id)).id, await rolesOf(id)]).toEqual([identity.id, ['Organization Operator', {}]]);
  });

  it('is refused whose name, id or address another one has', async () => {
    await createUser('unique');
    for (const body of [
      { userName: 'UNIQUE', externalId: 'a', emails: [{ value: 'a@example.com' }] },
      { userName: 'b', externalId: 'external unique', emails: [{ value: 'b@example.com' }] },
      { userName: 'c', externalId: 'c', emails: [{ value: 'Unique@example.com' }] },
    ]) {
      expect(scimType(await scim.send('POST', '/Users', { schemas: [USER], ...body }))).toEqual([409, 'uniqueness']);
    }
  });

  it('is refused that is larger than others have to wait for, by its values, its attributes or its request', async () => {
    const name = 'large';
    const emails = [{ type: 'work', value: `${name}@example.com`, primary: true }];
    const long = (count: number, length: number) =>
      Array.from({ length: count }, (_, index) => `${index}`.padEnd(length));
    const user = (roles: string[]) => scim.createUser(name, { emails, roles: roles.map((value) => ({ value })) });
    expect(await user(long(201, 1))).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
    expect(await user(long(20, 10_000))).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
    expect(await user(long(20, 15_000))).toMatchObject({
      status: 413,
      body: { schemas: [expect.stringMatching('Error')] },
    });
    const { status, body } = await user(long(200, 600));
    expect(status).toBe(201);
    const { id } = body;
    const added = await scim.patch(`/Users/${id}`, {
      op: 'add',
      path: 'entitlements',
      value: [{ value: ''.padEnd(16_000) }],
    });
    expect(added).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
  });

  it('that two requests create at once is created once', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => scim.createUser('twice')));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
  });

  it('is replaced by PUT, where a missing attribute is removed and nothing changes without a change', async () => {
    const id = await createUser('put', { title: 'x', nickName: 'y' });
    const body = { schemas: [USER], userName: 'put', emails: [{ type: 'work', value: 'put@example.com' }], title: 'z' };
    const first = await scim.send('PUT', `/Users/${id}`, body);
    expect(first.body).toMatchObject({ title: 'z', active: true });
    expect([first.body.nickName, first.body.externalId, first.headers.get('etag')]).toEqual([
      undefined,
      undefined,
      'W/"2"',
    ]);
    expect((await scim.send('PUT', `/Users/${id}`, body)).headers.get('etag')).toBe('W/"2"');
    expect(await scim.send('PUT', `/Users/${id}`, { ...body, active: null })).toMatchObject({ status: 400 });
  });

  it('is changed in the version that the client knows only, and not answered twice', async () => {
    const id = await createUser('versions');
    const patch = { schemas: [PATCH], Operations: [{ op: 'replace', path: 'title', value: 'x' }] };
    expect((await scim.send('PATCH', `/Users/${id}`, patch, { 'if-match': 'W/"7"' })).status).toBe(412);
    expect((await scim.send('PATCH', `/Users/${id}`, patch, { 'if-match': '"9", W/"1"' })).status).toBe(200);
    expect((await scim.get(`/Users/${id}`, { 'if-none-match': 'W/"2"' })).status).toBe(304);
    expect((await scim.get(`/Users/${id}`, { 'if-none-match': 'W/"1"' })).status).toBe(200);
    expect((await scim.send('DELETE', `/Users/${id}`, undefined, { 'if-match': 'W/"1"' })).status).toBe(412);
  });

  it('of another organization is not there', async () => {
    const other = await database.prisma.organization.create({ data: { id: uuidv7(), displayName: 'Other' } });
    const person = await database.prisma.person.create({ data: { id: uuidv7(), email: 'o@other.example' } });
    const role = await database.prisma.role.findFirstOrThrow({ where: { name: 'ORGANIZATION_USER' } });
    const identity = await database.prisma.identity.create({
      data: {
        id: uuidv7(),
        organizationId: other.id,
        kind: 'person',
        personId: person.id,
        name: 'o',
        organizationRoleId: role.id,
      },
    });
    const user = { userName: 'o', userNameKey: 'o', email: person.email, isActive: true };
    const { id } = await database.prisma.scimUser.create({
      data: { ...user, id: uuidv7(), organizationId: other.id, identityId: identity.id },
    });
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
      const body =
        method === 'PUT'
          ? { schemas: [USER], emails: [{ value: 'a@b' }] }
          : { schemas: [PATCH], Operations: [{ op: 'add', path: 'title', value: 'x' }] };
      const answer = await scim.send(
        method,
        `/Users/${id}`,
        method === 'GET' || method === 'DELETE' ? undefined : body,
      );
      expect([method, answer.status]).toEqual([method, 404]);
    }
    expect((await scim.get('/Users?filter=userName+eq+"o"')).body.totalResults).toBe(0);
    const group = await scim.createGroup('Others', [id]);
    expect(scimType(group)).toEqual([400, 'invalidValue']);
  });
});

describe('a list', () => {
  beforeAll(async () => {
    for (const [index, name] of ['fa', 'fb', 'fc'].entries()) {
      await createUser(name, {
        title: `Filtered ${name.toUpperCase()}`,
        active: index !== 1,
        name: { familyName: `Family-${index}` },
        [ENTERPRISE]: { department: 'Filters' },
        phoneNumbers: [
          { type: 'work', value: `00${index}` },
          { type: 'home', value: '7' },
        ],
      });
    }
  });
  const find = async (filter: string) => {
    const { status, body } = await scim.get(`/Users?filter=${encodeURIComponent(filter)}`);
    return status === 200 ? body.Resources.map(({ userName }: { userName: string }) => userName) : body.scimType;
  };

  it.each([
    ['userName eq "FA"', ['fa']],
    ['externalId eq "external fb"', ['fb']],
    ['externalId eq "External fb"', []],
    ['emails eq "FC@example.com"', ['fc']],
    ['emails.value eq "FC@example.com"', ['fc']],
    ['emails[type eq "work"].value eq "fa@example.com"', ['fa']],
    ['emails[type eq "work" and value eq "fa@example.com"]', ['fa']],
    ['emails[type eq "work" and value co "@EXAMPLE.com"] and title sw "filtered"', ['fa', 'fb', 'fc']],
    ['title sw "filtered f" and active eq true', ['fa', 'fc']],
    ['title sw "filtered f" and active eq "False"', ['fb']],
    ['title ew "FB" or (name.familyName eq "family-2" and not (active eq false))', ['fb', 'fc']],
    [`${ENTERPRISE}:department eq "filters" and title ne "filtered fa"`, ['fb', 'fc']],
    [`${USER}:userName eq "fa"`, ['fa']],
    ['phoneNumbers[type eq "work"].value eq "001"', ['fb']],
    ['phoneNumbers.value eq "002"', ['fc']],
    ['name.familyName gt "family-0" and name.familyName lt "family-2"', ['fb']],
    ['userName sw "f" and nickName pr', []],
    ['userName sw "f" and title pr and meta.created gt "2020-01-01T00:00:00Z"', ['fa', 'fb', 'fc']],
    ['id eq "no uuid"', []],
    ['userName eq "a\\u0022\'; DROP TABLE scim_user; --"', []],
    ['userName EQ "fa" AND Active Eq True', ['fa']],
    ['password eq "x"', 'invalidFilter'],
    ['meta.created gt "0000-01-01T00:00:00Z"', 'invalidFilter'],
    ['userName', 'invalidFilter'],
    ['userName eq', 'invalidFilter'],
    ['userName eq "a" userName eq "b"', 'invalidFilter'],
    ['userName like "a"', 'invalidFilter'],
    ['active gt true', 'invalidFilter'],
    ['meta.created gt "yesterday"', 'invalidFilter'],
    ['(((((((((((((((((((((userName pr)))))))))))))))))))))', 'invalidFilter'],
    ['userName eq "\\ud800"', 'invalidFilter'],
    ['not "(" userName eq "fa")', 'invalidFilter'],
    ['constructor pr', 'invalidFilter'],
    ['__proto__ eq true', 'invalidFilter'],
  ])('by %s', async (filter, wanted) => {
    expect(await find(filter)).toEqual(wanted);
  });

  it('has pages from 1, of 200 at most, and counts alone', async () => {
    const page = async (query: string) => {
      const { body } = await scim.get(`/Users?filter=userName+sw+"f"&${query}`);
      return [
        body.totalResults,
        body.startIndex,
        body.itemsPerPage,
        ...body.Resources.map(({ userName }: { userName: string }) => userName),
      ];
    };
    expect(await page('startIndex=2&count=1')).toEqual([3, 2, 1, 'fb']);
    expect(await page('startIndex=-5&count=2')).toEqual([3, 1, 2, 'fa', 'fb']);
    expect(await page('startIndex=9&count=9999')).toEqual([3, 9, 0]);
    expect(await page('count=0')).toEqual([3, 1, 0]);
    expect(scimType(await scim.get('/Users?count=x'))).toEqual([400, 'invalidValue']);
  });

  it('of everything has users and then groups, and only those that have what the filter asks for', async () => {
    await scim.createGroup('f group');
    const search = async (body: object) => {
      const schemas = ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'];
      const { body: page } = await scim.send('POST', '/.search', { schemas, ...body });
      return [
        page.totalResults,
        ...page.Resources.map((each: Record<string, string>) => each.displayName ?? each.userName),
      ];
    };
    const filter = 'userName sw "f" or displayName eq "f group"';
    expect(await search({ filter: 'displayName eq "f group"' })).toEqual([1, 'f group']);
    expect(await search({ filter })).toEqual([3, 'fa', 'fb', 'fc']);
    const known = await search({ filter: 'externalId eq "external fa" or id pr', count: 200 });
    expect(known.slice(1)).toEqual(expect.arrayContaining(['fa', 'f group']));
    expect(await search({ filter: 'externalId pr or id pr', startIndex: Number(known[0]), count: 5 })).toEqual([
      known[0],
      'f group',
    ]);
  });

  it('has the attributes that were asked for, also by a search with a body', async () => {
    const query = 'filter=userName+eq+"fa"';
    const only = await scim.get(`/Users?${query}&attributes=userName,name.familyName,urn:x:unknown`);
    const [user] = only.body.Resources;
    expect(user).toEqual({
      schemas: [USER, ENTERPRISE],
      id: user.id,
      userName: 'fa',
      name: { familyName: 'Family-0' },
    });
    const search = await scim.send('POST', '/Users/.search', {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'],
      filter: 'userName eq "fa"',
      excludedAttributes: ['emails', 'phoneNumbers.type', ENTERPRISE, 'meta'],
      count: 1,
    });
    expect(search.body.Resources[0]).toMatchObject({
      userName: 'fa',
      phoneNumbers: [{ value: '000' }, { value: '7' }],
    });
    expect(Object.keys(search.body.Resources[0])).not.toEqual(expect.arrayContaining(['emails']));
    expect(Object.keys(search.body.Resources[0])).not.toEqual(expect.arrayContaining([ENTERPRISE]));
  });
});

describe('a group', () => {
  const workspace = 'Workspace 1';

  it('gives its members the roles of its name, and takes them when they leave', async () => {
    const [ada, bob] = [await createUser('ga'), await createUser('gb')];
    const { body: group, headers } = await scim.createGroup(`LS:Organization Viewer:${workspace}:Editor`, [ada, bob]);
    expect(headers.get('location')).toContain(`/scim/v2/Groups/${group.id}`);
    expect(group.members.map(({ value }: Record<string, string>) => value).sort()).toEqual([ada, bob].sort());
    expect(await rolesOf(ada)).toEqual(['Organization Viewer', { [workspace]: 'Editor' }]);
    expect((await scim.get(`/Users/${ada}`)).body.groups).toEqual([
      expect.objectContaining({ value: group.id, type: 'direct' }),
    ]);
    const removed = await scim.patch(`/Groups/${group.id}`, { op: 'Remove', path: `members[value eq "${ada}"]` });
    expect([removed.status, removed.headers.get('etag')]).toEqual([204, 'W/"2"']);
    expect(await rolesOf(ada)).toEqual(['Organization User', {}]);
    expect(await rolesOf(bob)).toEqual(['Organization Viewer', { [workspace]: 'Editor' }]);
    expect((await scim.send('DELETE', `/Groups/${group.id}`)).status).toBe(204);
    expect(await rolesOf(bob)).toEqual(['Organization User', {}]);
    expect((await scim.get(`/Groups/${group.id}`)).status).toBe(404);
  });

  it('that is newer decides, one of administrators always, and what is left decides when one goes', async () => {
    const id = await createUser('precedence');
    const admins = await scim.createGroup('x Organization Admins', [id]);
    const first = await scim.createGroup(`A Organization User:${workspace}:Admin`, [id]);
    const second = await scim.createGroup(`B Organization User:${workspace}:Viewer`, [id]);
    expect(await rolesOf(id)).toEqual(['Organization Admin', { [workspace]: 'Viewer' }]);
    const keeper = await createUser('keeper');
    await scim.patch(`/Groups/${admins.body.id}`, { op: 'add', path: 'members', value: [{ value: keeper }] });
    await scim.patch(`/Groups/${admins.body.id}`, { op: 'remove', path: 'members', value: [{ value: id }] });
    await scim.send('DELETE', `/Groups/${second.body.id}`);
    expect(await rolesOf(id)).toEqual(['Organization User', { [workspace]: 'Admin' }]);
    await scim.send('DELETE', `/Groups/${first.body.id}`);
    expect(await rolesOf(id)).toEqual(['Organization User', {}]);
  });

  it('whose name says nothing is kept and gives nothing', async () => {
    const id = await createUser('nothing');
    const { body } = await scim.createGroup('Organization User:Nowhere:Editor', [id]);
    expect(await rolesOf(id)).toEqual(['Organization User', {}]);
    expect((await scim.get(`/Groups/${body.id}`)).body.members).toHaveLength(1);
  });

  it('takes effect when a workspace and a role of its name appear, and ends when they are renamed', async () => {
    const id = await createUser('waiting');
    await scim.createGroup('Organization User:Later:Reviewer', [id]);
    const workspace = await platform.asAdmin<{ id: string }>('POST', '/api/v1/workspaces', { display_name: 'Later' });
    expect(await rolesOf(id)).toEqual(['Organization User', {}]);
    const role = { display_name: 'Reviewer', permissions: ['workspaces:read'] };
    const { body } = await platform.asAdmin<{ id: string }>('POST', '/api/v1/orgs/current/roles', role);
    expect(await rolesOf(id)).toEqual(['Organization User', { Later: 'Reviewer' }]);
    await platform.asAdmin('PATCH', `/api/v1/orgs/current/roles/${body.id}`, { display_name: 'Checker' });
    expect(await rolesOf(id)).toEqual(['Organization User', {}]);
    await platform.asAdmin('PATCH', `/api/v1/orgs/current/roles/${body.id}`, { display_name: 'Reviewer' });
    await platform.asAdmin('PATCH', `/api/v1/workspaces/${workspace.body.id}`, { display_name: 'Earlier' });
    expect(await rolesOf(id)).toEqual(['Organization User', {}]);
    await platform.asAdmin('PATCH', `/api/v1/workspaces/${workspace.body.id}`, { display_name: 'Later' });
    expect(await rolesOf(id)).toEqual(['Organization User', { Later: 'Reviewer' }]);
  });

  it('is read anew when the separator of the organization changes', async () => {
    const id = await createUser('separated');
    await scim.createGroup('Organization Viewer-Workspace 1-Viewer', [id]);
    const separate = (scim_group_name_separator: string) =>
      platform.asAdmin('PATCH', '/api/v1/orgs/current/info', { scim_group_name_separator });
    expect(await rolesOf(id)).toEqual(['Organization User', {}]);
    await separate('-');
    expect(await rolesOf(id)).toEqual(['Organization Viewer', { 'Workspace 1': 'Viewer' }]);
    await separate(':');
    expect(await rolesOf(id)).toEqual(['Organization User', {}]);
  });

  it('keeps its name: another one is refused, the same is no change', async () => {
    const { body } = await scim.createGroup('Immutable');
    for (const operation of [
      { op: 'replace', path: 'displayName', value: 'Other' },
      { op: 'Replace', value: { id: body.id, displayName: 'Other' } },
    ]) {
      expect(scimType(await scim.patch(`/Groups/${body.id}`, operation))).toEqual([400, 'mutability']);
    }
    const put = (displayName: string) => scim.send('PUT', `/Groups/${body.id}`, { schemas: [GROUP], displayName });
    expect(scimType(await put('Other'))).toEqual([400, 'mutability']);
    expect((await put('Immutable')).headers.get('etag')).toBe('W/"1"');
    expect(scimType(await scim.createGroup('IMMUTABLE'))).toEqual([409, 'uniqueness']);
  });

  it('is found by name, id and member, without its members where they are not asked for', async () => {
    const user = await createUser('member');
    const { body } = await scim.createGroup('Findable', [user]);
    for (const filter of [
      'displayName eq "findable"',
      `id eq "${body.id}"`,
      `members[value eq "${user}"]`,
      `members eq "${user}"`,
      `members.value eq "${user}"`,
    ]) {
      const found = await scim.get(`/Groups?excludedAttributes=members&filter=${encodeURIComponent(filter)}`);
      expect([filter, found.body.Resources]).toEqual([filter, [expect.objectContaining({ id: body.id })]]);
      expect(found.body.Resources[0].members).toBeUndefined();
    }
    expect((await scim.get(`/Users?filter=groups.value+eq+"${body.id}"`)).body.totalResults).toBe(1);
  });

  it('takes the same change again without a new version, and refuses members that do not exist, and what cannot be stored', async () => {
    const user = await createUser('again');
    const { body } = await scim.createGroup('Replayed');
    const add = { op: 'Add', path: 'members', value: [{ value: user }] };
    expect((await scim.patch(`/Groups/${body.id}`, add)).headers.get('etag')).toBe('W/"2"');
    expect((await scim.patch(`/Groups/${body.id}`, add)).headers.get('etag')).toBe('W/"2"');
    const unknown = { op: 'add', path: 'members', value: [{ value: uuidv7() }] };
    const broken = { op: 'replace', path: 'externalId', value: 'half of a pair \ud800' };
    for (const refused of [unknown, broken]) {
      expect(scimType(await scim.patch(`/Groups/${body.id}`, refused))).toEqual([400, 'invalidValue']);
    }
    expect((await scim.patch(`/Groups/${body.id}`, { op: 'remove', path: 'members' })).status).toBe(204);
    expect((await scim.get(`/Groups/${body.id}`)).body.members).toBeUndefined();
  });
});

describe('a user who is not active', () => {
  it('loses sessions and personal tokens with the request, and gets back what groups give, but no old token', async () => {
    const id = await createUser('leaver');
    await scim.createGroup('L Organization User:Workspace 1:Viewer', [id]);
    const identity = await identityOf(id);
    const key = { organizationId, identityId: identity.id, kind: 'personal_token', shortKey: 'x', description: 'x' };
    const { id: keyId } = await database.prisma.apiKey.create({
      data: { ...key, id: uuidv7(), keySha256: new Uint8Array(randomBytes(32)) },
    });
    const { id: sessionId } = await database.prisma.session.create({
      data: {
        id: uuidv7(),
        personId: identity.personId!,
        tokenSha256: new Uint8Array(randomBytes(32)),
        expiresAt: new Date(Date.now() + 60_000),
      },
    });
    const off = await scim.patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: 'False' });
    expect([off.status, off.body.active]).toEqual([200, false]);
    const state = async () => ({
      disabledBy: (await identityOf(id)).disabledBy,
      isRevoked: (await database.prisma.apiKey.findUniqueOrThrow({ where: { id: keyId } })).revokedAt !== null,
      reason: (await database.prisma.session.findUniqueOrThrow({ where: { id: sessionId } })).endReason,
    });
    expect(await state()).toEqual({ disabledBy: 'scim', isRevoked: true, reason: 'disabled' });
    expect((await scim.createUser('leaver')).status).toBe(409);
    const on = await scim.patch(`/Users/${id}`, { op: 'replace', value: { active: true } });
    expect(on.body.active).toBe(true);
    expect(await state()).toEqual({ disabledBy: null, isRevoked: true, reason: 'disabled' });
    expect(await rolesOf(id)).toEqual(['Organization User', { 'Workspace 1': 'Viewer' }]);
  });

  it('stays disabled when an administrator disabled them', async () => {
    const id = await createUser('disabled', { active: false });
    await database.prisma.identity.updateMany({
      where: { id: (await identityOf(id)).id },
      data: { disabledBy: 'admin' },
    });
    expect((await scim.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: true })).body.active).toBe(true);
    expect((await identityOf(id)).disabledAt).not.toBeNull();
  });

  it('that is deleted is no member any more, and may come back as a new one', async () => {
    const id = await createUser('deleted');
    const { body: group } = await scim.createGroup('Deleted', [id]);
    const { id: identityId } = await identityOf(id);
    expect((await scim.send('DELETE', `/Users/${id}`)).status).toBe(204);
    expect((await scim.get(`/Users/${id}`)).status).toBe(404);
    expect((await scim.send('DELETE', `/Users/${id}`)).status).toBe(404);
    expect((await database.prisma.identity.findFirstOrThrow({ where: { id: identityId } })).isRemoved).toBe(true);
    const { body, headers } = await scim.get(`/Groups/${group.id}`);
    expect([body.members, headers.get('etag')]).toEqual([undefined, 'W/"2"']);
    expect((await identityOf(await createUser('deleted'))).id).not.toBe(identityId);
  });
});

describe('the last administrator', () => {
  it('is neither deactivated, nor deleted, nor taken from the group, and nothing of the request stays', async () => {
    const others = await database.prisma.identity.findMany({
      where: { organizationId, kind: 'person', organizationRole: { name: 'ORGANIZATION_ADMIN' } },
      include: { scimUser: true },
    });
    const id = await createUser('last');
    const { body: group } = await scim.createGroup('Last Organization Admin', [id]);
    for (const { scimUser } of others) await scim.send('DELETE', `/Users/${scimUser!.id}`);
    for (const refused of [
      await scim.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false }),
      await scim.send('DELETE', `/Users/${id}`),
      await scim.patch(`/Groups/${group.id}`, { op: 'remove', path: 'members' }),
      await scim.send('DELETE', `/Groups/${group.id}`),
    ]) {
      expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining('last one')]);
    }
    expect((await scim.get(`/Users/${id}`)).body.active).toBe(true);
    expect((await scim.get(`/Groups/${group.id}`)).body.members).toHaveLength(1);
  });

  it('stays when users, groups and members lose the role at once, whichever goes first', async () => {
    const [ada, bob, eve] = [await createUser('race-a'), await createUser('race-b'), await createUser('race-c')];
    const { body: group } = await scim.createGroup('Racing Organization Admin', [ada, bob]);
    const { id: manual } = await identityOf(eve);
    const member = `/api/v1/orgs/current/members/${manual}`;
    const role_id = PLATFORM_ROLES.organizationAdmin;
    expect((await platform.asAdmin('PATCH', member, { role_id })).status).toBe(200);
    const last = await database.prisma.scimGroup.findFirstOrThrow({
      where: { displayName: 'Last Organization Admin' },
    });
    const answers = await Promise.all([
      scim.patch(`/Users/${ada}`, { op: 'replace', path: 'active', value: false }),
      scim.send('DELETE', `/Groups/${group.id}`),
      platform.asAdmin('PATCH', member, { role_id: PLATFORM_ROLES.organizationUser }),
      scim.patch(`/Groups/${last.id}`, { op: 'remove', path: 'members' }),
      scim.send('DELETE', `/Users/${bob}`),
    ]);
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status >= 300)).toEqual(expect.arrayContaining([409]));
    expect(
      statuses.every((status) => [200, 204, 409].includes(status)),
      statuses.join(),
    ).toBe(true);
    const left = await database.prisma.identity.count({
      where: { organizationId, kind: 'person', disabledAt: null, isRemoved: false, organizationRoleId: role_id },
    });
    expect(left).toBeGreaterThan(0);
  });
});

it('no change of a user or a group is missing in the audit trail, and none says a secret', async () => {
  const events = await database.prisma.auditEvent.findMany({ where: { organizationId, actorKind: 'scim' } });
  expect(new Set(events.map(({ action }) => action))).toEqual(
    new Set([
      ...['scim_user.created', 'scim_user.updated', 'scim_user.deleted', 'member.added', 'member.removed'],
      ...['scim_group.created', 'scim_group.updated', 'scim_group.deleted'],
    ]),
  );
  expect(events.every(({ credentialId }) => credentialId !== null)).toBe(true);
  expect(`${platform.output()}${await platform.dump()}`).not.toContain(scim.token);
});
