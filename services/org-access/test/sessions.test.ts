import { type AccessTokenAnswer, PRINCIPAL_HEADER, type SessionInfo } from '@runyard/contracts';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publishAccessChange } from '../src/access/credentials/access-change.ts';
import { disableIdentity } from '../src/access/credentials/disable-identity.ts';
import { PLATFORM_ROLES } from '../src/access/platform-roles.ts';
import { TestPeople } from './support/people.ts';
import { TestOrgAccess } from './support/platform.ts';

const ADMIN = { workspaceId: null, roleId: PLATFORM_ROLES.organizationAdmin };
const USER = { workspaceId: null, roleId: PLATFORM_ROLES.organizationUser };

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

const claimsOf = async (token: string, request: { organization_id?: string; workspace_id?: string } = {}) => {
  const answer = await platform.verify(token, request);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer));
  return answer.body.claims;
};

describe('a session', () => {
  it('acts as the member in the only organization and workspace, with the rights of the role', async () => {
    const { organizationId, workspaceId } = await people.addOrganization();
    const personId = await people.addPerson();
    const editor = { workspaceId, roleId: PLATFORM_ROLES.workspaceEditor };
    const identityId = await people.addMember(personId, organizationId, [USER, editor]);
    const { id, token } = await people.signIn(personId);
    const claims = await claimsOf(token);
    expect(claims).toMatchObject({
      sub: identityId,
      kind: 'session',
      person_id: personId,
      session_id: id,
      organization_id: organizationId,
      workspace_id: workspaceId,
      organization_role: 'user',
      plan: 'enterprise',
    });
    expect(claims.permissions).toContain('deployments:create');
    expect(claims.permissions).not.toContain('deployments:delete');
    expect(claims.key_id).toBeUndefined();
  });

  it('acts as the person, in no organization and without rights, where there is none', async () => {
    const personId = await people.addPerson();
    const { token } = await people.signIn(personId);
    const claims = await claimsOf(token);
    expect(claims).toMatchObject({ sub: personId, person_id: personId, permissions: [] });
    expect(claims.organization_id).toBeUndefined();
  });

  it('acts in the organization that is asked for, else in that of the workspace, and in none that it has to guess', async () => {
    const [first, second, foreign] = await Promise.all(['A', 'B', 'C'].map((name) => people.addOrganization(name)));
    const personId = await people.addPerson();
    await people.addMember(personId, first!.organizationId, [USER]);
    await people.addMember(personId, second!.organizationId, [ADMIN]);
    const { id, token } = await people.signIn(personId);
    expect((await claimsOf(token)).organization_id).toBeUndefined();
    expect(await claimsOf(token, { organization_id: first!.organizationId })).toMatchObject({
      organization_id: first!.organizationId,
      organization_role: 'user',
    });
    expect(await claimsOf(token, { workspace_id: second!.workspaceId })).toMatchObject({
      organization_id: second!.organizationId,
      workspace_id: second!.workspaceId,
      organization_role: 'admin',
    });
    await people.database.prisma.session.update({ where: { id }, data: { organizationId: first!.organizationId } });
    expect((await claimsOf(token)).organization_id).toBe(first!.organizationId);

    const refusals = await Promise.all([
      platform.verify(token, { organization_id: foreign!.organizationId }),
      platform.verify(token, { organization_id: uuidv7() }),
      platform.verify(token, { organization_id: 'nonsense' }),
      platform.verify(token, { workspace_id: foreign!.workspaceId }),
      platform.verify(token, { workspace_id: first!.workspaceId }),
      platform.verify(token, { organization_id: first!.organizationId, workspace_id: second!.workspaceId }),
      platform.verify(token, { workspace_id: 'nonsense' }),
    ]);
    expect(refusals.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403, 403, 403]);
  });

  it('reaches an organization that is sso_only with its single sign-on alone, and no other from there', async () => {
    const [open, ssoOnly] = [await people.addOrganization(), await people.addOrganization()];
    await people.database.prisma.organization.update({
      where: { id: ssoOnly.organizationId },
      data: { ssoOnly: true },
    });
    const personId = await people.addPerson();
    await people.addMember(personId, open.organizationId, [USER]);
    await people.addMember(personId, ssoOnly.organizationId, [USER]);
    const { token: password } = await people.signIn(personId);
    const sso = { organizationId: ssoOnly.organizationId, providerId: uuidv7(), sessionId: null, subject: 'ada' };
    const { token } = await people.signIn(personId, { sso: { ...sso, encryptedIdToken: null } });

    expect((await claimsOf(password)).organization_id).toBe(open.organizationId);
    const refused = await platform.verify(password, { organization_id: ssoOnly.organizationId });
    expect(refused.status).toBe(403);
    expect(refused.body.detail).toContain('single sign-on');
    expect((await claimsOf(token)).organization_id).toBe(ssoOnly.organizationId);
    expect((await platform.verify(token, { organization_id: open.organizationId })).status).toBe(403);
  });

  it('ends when the member is disabled, also the one of its single sign-on', async () => {
    const { organizationId } = await people.addOrganization();
    const personId = await people.addPerson();
    const identityId = await people.addMember(personId, organizationId, [USER]);
    const sso = { organizationId, providerId: uuidv7(), sessionId: null, subject: 'ada', encryptedIdToken: null };
    const [{ token }, bySso] = [await people.signIn(personId), await people.signIn(personId, { sso })];
    await people.database.transact((transaction) => disableIdentity(transaction, organizationId, identityId));
    expect((await platform.verify(token, { organization_id: organizationId })).status).toBe(403);
    expect((await platform.verify(bySso.token)).status).toBe(401);
    await people.database.transact((transaction) =>
      publishAccessChange(transaction, organizationId, [identityId], 'disabled'),
    );
    expect((await platform.verify(token)).status).toBe(401);
  });

  it('is over at its end, after too long a pause, and with a token that nobody issued', async () => {
    const personId = await people.addPerson();
    const [ended, idle, old] = await Promise.all([1, 2, 3].map(() => people.signIn(personId)));
    const day = 86_400_000;
    await people.database.prisma.session.update({ where: { id: ended!.id }, data: { expiresAt: new Date() } });
    await people.database.prisma.session.update({
      where: { id: idle!.id },
      data: { lastSeenAt: new Date(Date.now() - day / 2) },
    });
    await people.database.prisma.session.update({
      where: { id: old!.id },
      data: { createdAt: new Date(Date.now() - 2 * day) },
    });
    const tokens = [ended!.token, idle!.token, old!.token, 'rys_nonsense', 'rys_'];
    const answers = await Promise.all(tokens.map((token) => platform.verify(token)));
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401]);
  });

  it('names the networks of an organization that limits them, and so do keys', async () => {
    const { organizationId } = await people.addOrganization();
    const personId = await people.addPerson();
    await people.addMember(personId, organizationId, [USER]);
    const { token } = await people.signIn(personId);
    expect((await platform.verify(token)).body.allowed_networks).toBeUndefined();
    const limit = (id: string, ipAllowlistEnabled: boolean) =>
      people.database.prisma.organization.update({
        where: { id },
        data: { ipAllowlist: ['10.0.0.0/8'], ipAllowlistEnabled },
      });
    await limit(organizationId, true);
    await limit(platform.bootstrap.organization_id, true);
    expect((await platform.verify(token)).body.allowed_networks).toEqual(['10.0.0.0/8']);
    expect((await platform.verify(platform.bootstrap.api_key)).body.allowed_networks).toEqual(['10.0.0.0/8']);
    await limit(platform.bootstrap.organization_id, false);
    expect((await platform.verify(platform.bootstrap.api_key)).body.allowed_networks).toBeUndefined();
  });
});

/** Sends a request as the gateway does for a browser, with the cookie, or for a program. */
async function ask<Body>(
  credential: string,
  method: string,
  path: string,
  { body, cookie = credential }: { body?: unknown; cookie?: string } = {},
) {
  const { token } = (await platform.verify(credential)).body;
  const answer = await fetch(platform.service.url + path, {
    method,
    headers: {
      [PRINCIPAL_HEADER]: token,
      'x-forwarded-host': 'localhost:2024',
      'x-forwarded-proto': 'http',
      cookie: `runyard_session=${cookie}`,
      'content-type': 'application/json',
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  const setCookie = answer.headers.get('set-cookie');
  return { status: answer.status, setCookie, body: (text === '' ? undefined : JSON.parse(text)) as Body };
}
const isGood = async (token: string, request: object = {}) => (await platform.verify(token, request)).status === 200;

describe('a person', () => {
  it('sees the own sessions, and signs one, the others and all of them out', async () => {
    const { organizationId } = await people.addOrganization();
    const [ada, bob] = [await people.addPerson(), await people.addPerson()];
    await people.addMember(ada, organizationId, [USER]);
    const [first, second, third] = await Promise.all([1, 2, 3].map(() => people.signIn(ada)));
    const ofBob = await people.signIn(bob);
    const seen = await ask<SessionInfo[]>(first!.token, 'GET', '/api/v1/sessions');
    expect(seen.body.map(({ id }) => id).sort()).toEqual([first!.id, second!.id, third!.id].sort());
    expect(seen.body.filter((session) => session.is_current).map(({ id }) => id)).toEqual([first!.id]);
    expect(JSON.stringify(seen.body)).not.toContain('rys_');

    const path = '/api/v1/sessions';
    expect((await ask(first!.token, 'DELETE', `${path}/${ofBob.id}`)).status).toBe(404);
    expect((await ask(first!.token, 'DELETE', `${path}/${uuidv7()}`)).status).toBe(404);
    const one = await ask(first!.token, 'DELETE', `${path}/${second!.id}`);
    expect([one.status, one.setCookie]).toEqual([204, null]);
    expect((await ask(first!.token, 'DELETE', `${path}/${second!.id}`)).status).toBe(404);
    expect((await ask(first!.token, 'DELETE', path)).body).toEqual({ ended: 1 });
    expect([await isGood(first!.token), await isGood(third!.token)]).toEqual([true, false]);
    const everywhere = await ask(first!.token, 'DELETE', `${path}?include_current=true`);
    expect(everywhere.body).toEqual({ ended: 1 });
    expect(everywhere.setCookie).toMatch(/^runyard_session=; .*Max-Age=0/);
    expect([await isGood(first!.token), await isGood(ofBob.token)]).toEqual([false, true]);

    const events = await people.database.prisma.auditEvent.findMany({
      where: { organizationId, action: 'session.ended' },
      orderBy: { sequence: 'asc' },
    });
    expect(events.map(({ resourceId, details }) => [resourceId, details])).toEqual([
      [second!.id, { reason: 'signed_out', ended: 1 }],
      [null, { reason: 'signed_out_everywhere', ended: 1 }],
      [null, { reason: 'signed_out_everywhere', ended: 1 }],
    ]);
    expect(await platform.dump()).not.toContain(first!.token);
  });

  it('by the identity provider of one organization neither sees nor ends those by other means', async () => {
    const { organizationId } = await people.addOrganization();
    const personId = await people.addPerson();
    await people.addMember(personId, organizationId, [USER]);
    const own = await people.signIn(personId);
    const sso = { organizationId, providerId: uuidv7(), sessionId: null, subject: 'ada', encryptedIdToken: null };
    const theirs = await people.signIn(personId, { sso });
    const listed = await platform.callAs<SessionInfo[]>({ token: theirs.token }, 'GET', '/api/v1/sessions');
    expect(listed.body.map(({ id }) => id)).toEqual([theirs.id]);
    const end = await platform.callAs({ token: theirs.token }, 'DELETE', `/api/v1/sessions/${own.id}`);
    expect(end.status).toBe(404);
    expect((await platform.callAs({ token: theirs.token }, 'DELETE', '/api/v1/sessions')).status).toBe(200);
    expect((await platform.verify(own.token)).status).toBe(200);
  });

  it('signs out, and the browser forgets the cookie', async () => {
    const { token } = await people.signIn(await people.addPerson());
    const answer = await ask(token, 'DELETE', '/api/v1/sessions/current');
    expect([answer.status, answer.setCookie?.includes('Max-Age=0')]).toEqual([204, true]);
    expect(await isGood(token)).toBe(false);
  });

  it('is told who they are, and chooses the organization in which they act', async () => {
    const [first, second, foreign] = await Promise.all(['A', 'B', 'C'].map((name) => people.addOrganization(name)));
    const email = `${uuidv7()}@example.com`;
    const personId = await people.addPerson(email);
    await people.addMember(personId, first!.organizationId, [USER]);
    const identityId = await people.addMember(personId, second!.organizationId, [ADMIN]);
    const { id, token } = await people.signIn(personId);
    const who = { ls_user_id: personId, email, full_name: 'Ada Lovelace', session_id: id, is_sso: false };
    expect((await ask(token, 'GET', '/auth/public')).body).toMatchObject({ ...who, organization_id: null });
    const choose = (organization_id: string) =>
      ask<SessionInfo>(token, 'PUT', '/api/v1/sessions/current/organization', { body: { organization_id } });
    expect((await choose(foreign!.organizationId)).status).toBe(403);
    expect((await choose(second!.organizationId)).body.organization_id).toBe(second!.organizationId);
    expect((await ask(token, 'GET', '/auth/public')).body).toMatchObject({
      ...who,
      identity_id: identityId,
      organization_id: second!.organizationId,
      tenant_id: second!.workspaceId,
    });
  });

  it('gets a new token, while requests under way keep the old one', async () => {
    const { id, token } = await people.signIn(await people.addPerson());
    const { status, setCookie } = await ask(token, 'POST', '/api/v1/sessions/current/refresh');
    const next = /^runyard_session=(rys_[^;]+); Path=\/; HttpOnly; SameSite=Lax; Max-Age=\d+$/.exec(setCookie!)![1]!;
    expect([status, next === token]).toEqual([200, false]);
    expect((await claimsOf(next)).session_id).toBe(id);
    expect(await isGood(token)).toBe(true);
    // Whoever has the old one takes the session from nobody.
    expect((await ask(token, 'POST', '/api/v1/sessions/current/refresh')).status).toBe(403);
    expect(await isGood(next)).toBe(true);
    await people.database.prisma.session.update({ where: { id }, data: { rotatedAt: new Date(Date.now() - 11_000) } });
    expect(await isGood(token)).toBe(false);
    expect(await isGood(token, { in_progress: true })).toBe(true);
    await ask(next, 'DELETE', '/api/v1/sessions/current');
    expect(await isGood(token, { in_progress: true })).toBe(false);
  });
});

describe('an access token', () => {
  const path = '/api/v1/sessions/current/access-token';

  it('acts as the session, ends with it, and makes no other', async () => {
    const { organizationId } = await people.addOrganization();
    const personId = await people.addPerson();
    await people.addMember(personId, organizationId, [USER]);
    const { id, token } = await people.signIn(personId);
    const { body } = await ask<AccessTokenAnswer>(token, 'POST', path);
    expect(body).toMatchObject({ token_type: 'bearer', expires_in: 900 });
    expect(body.access_token.length).toBeLessThan(512);
    const claims = await claimsOf(body.access_token, { organization_id: organizationId });
    expect(claims).toMatchObject({ session_id: id, person_id: personId, organization_id: organizationId });

    expect((await ask(body.access_token, 'POST', path)).status).toBe(403);
    expect((await ask(body.access_token, 'POST', '/api/v1/sessions/current/refresh')).status).toBe(403);
    const other = await people.signIn(personId);
    expect((await ask(body.access_token, 'POST', path, { cookie: other.token })).status).toBe(403);

    const principal = (await platform.verify(token)).body.token;
    // A long one is refused for its length.
    expect([401, 422]).toContain((await platform.verify(principal)).status);
    const asPrincipal = { [PRINCIPAL_HEADER]: body.access_token };
    expect((await fetch(`${platform.service.url}/api/v1/sessions`, { headers: asPrincipal })).status).toBe(401);

    const forged = body.access_token.replace(/.{4}$/, 'AAAA');
    expect((await platform.verify(forged)).status).toBe(401);
    await ask(token, 'DELETE', '/api/v1/sessions/current');
    expect((await platform.verify(body.access_token)).status).toBe(401);
  });

  it('is not made with a key', async () => {
    const key = platform.bootstrap.api_key;
    expect((await ask(key, 'POST', path)).status).toBe(403);
    expect((await ask(key, 'GET', '/api/v1/sessions')).status).toBe(403);
  });
});
