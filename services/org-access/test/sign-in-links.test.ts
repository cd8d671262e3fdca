import { request } from 'node:http';
import type { SignInLink } from '@runyard/contracts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PLATFORM_ROLES } from '../src/access/platform-roles.ts';
import { PageClient } from './support/page-client.ts';
import { TestPeople } from './support/people.ts';
import { TestOrgAccess } from './support/platform.ts';

const ADMIN = { workspaceId: null, roleId: PLATFORM_ROLES.organizationAdmin };
const USER = { workspaceId: null, roleId: PLATFORM_ROLES.organizationUser };
const ADDRESS = 'administrator@localhost';

let platform: TestOrgAccess;
let people: TestPeople;
let environment: Record<string, string> = {};
beforeEach(async () => {
  platform = await TestOrgAccess.start({ environment });
  people = await TestPeople.open(platform);
});
afterEach(async () => {
  await people?.close();
  await platform?.close();
});

const organizationId = () => platform.bootstrap.organization_id;
const newBrowser = () => new PageClient(platform.service.url);
async function newLink(): Promise<SignInLink> {
  const { status, body } = await platform.internal<SignInLink>('/internal/sign-in-links', {});
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body;
}
const administrators = () =>
  people.database.prisma.identity.findMany({
    where: { organizationId: organizationId(), kind: 'person' },
    include: { person: { include: { password: true } }, grants: true },
  });
/** Asks as it is said, and returns the status. */
const ask = (path: string, headers: Record<string, string>, method = 'GET') =>
  new Promise<number>((resolve, reject) => {
    const sent = request(platform.service.url + path, { method, headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode!);
    });
    sent.once('error', reject).end();
  });

describe('a link that signs in', () => {
  it('makes the local administrator when it is followed, and finds the same one again', async () => {
    const { path, expires_at: expiresAt } = await newLink();
    expect(path).toMatch(/^\/auth\/link\?token=[\w-]{43}$/);
    expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(86_000_000);
    expect(await administrators()).toEqual([]);
    const browser = newBrowser();
    expect(await browser.open(path)).toMatchObject({ status: 200, path: '/auth/account' });
    const [administrator, ...others] = await administrators();
    expect(others).toEqual([]);
    expect(administrator).toMatchObject({
      organizationRoleId: PLATFORM_ROLES.organizationAdmin,
      isAccepted: true,
      grants: [{ source: 'bootstrap' }],
      person: { email: ADDRESS, fullName: 'Local administrator', password: null, emailVerifiedAt: expect.any(Date) },
    });
    const claims = (await platform.verify(browser.sessionToken!)).body.claims;
    expect(claims).toMatchObject({ organization_id: organizationId(), organization_role: 'admin', kind: 'session' });
    const again = newBrowser();
    await again.open((await newLink()).path);
    expect((await platform.verify(again.sessionToken!)).body.claims.person_id).toBe(claims.person_id);
    expect(await administrators()).toHaveLength(1);
    const events = await people.database.prisma.auditEvent.findMany({
      where: {
        organizationId: organizationId(),
        action: { in: ['sign_in_link.created', 'sign_in.allowed', 'member.added'] },
      },
      orderBy: { sequence: 'asc' },
    });
    expect(events.map(({ action, actorKind }) => [action, actorKind])).toEqual([
      ...[
        ['sign_in_link.created', 'internal'],
        ['member.added', 'person'],
        ['sign_in.allowed', 'person'],
      ],
      ...[
        ['sign_in_link.created', 'internal'],
        ['sign_in.allowed', 'person'],
      ],
    ]);
    expect(events[2]!.details).toMatchObject({ method: 'link', by: 'sign_in_link', outcome: 'signed_in' });
    for (const secret of [path.split('=')[1]!, browser.sessionToken!]) {
      expect(await platform.dump()).not.toContain(secret);
      expect(platform.output()).not.toContain(secret);
    }
  });

  it('works once, also for two browsers at once, and says so to the other', async () => {
    const { path } = await newLink();
    const browsers = [newBrowser(), newBrowser(), newBrowser()];
    const pages = await Promise.all(browsers.map((browser) => browser.open(path)));
    expect(pages.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
    expect(browsers.filter(({ sessionToken }) => sessionToken !== undefined)).toHaveLength(1);
    const late = await newBrowser().open(path);
    expect(late).toMatchObject({ status: 400, headers: { 'referrer-policy': 'no-referrer' } });
    expect(late.text).toContain('This link has been used, or has expired');
    expect(late.text).toContain('href="/login"');
    expect(await administrators()).toHaveLength(1);
  });

  it('does not work when it is unknown, expired, or a link of another kind', async () => {
    const { path } = await newLink();
    await people.database.prisma.oneTimeToken.updateMany({
      where: { purpose: 'sign_in_link' },
      data: { expiresAt: new Date() },
    });
    const setup = platform.bootstrap.administrator_setup_path!.split('=')[1];
    for (const tried of [path, '/auth/link', '/auth/link?token=nonsense', `/auth/link?token=${setup}`])
      expect([tried, (await newBrowser().open(tried)).status]).toEqual([tried, 400]);
    expect(await administrators()).toEqual([]);
  });

  it('is not used up by what fetches it ahead, nor by a frame, a script or a question whether it is there', async () => {
    const { path } = await newLink();
    const tries: [Record<string, string>, string?][] = [
      [{ 'sec-purpose': 'prefetch' }],
      [{ 'sec-purpose': 'prefetch;prerender' }],
      [{ purpose: 'prefetch' }],
      [{ 'x-moz': 'prefetch' }],
      [{}, 'HEAD'],
      [{ 'sec-fetch-dest': 'iframe' }],
      [{ 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }],
    ];
    for (const [headers, method] of tries) expect(await ask(path, headers, method)).toBe(403);
    expect((await newBrowser().open(path)).path).toBe('/auth/account');
  });

  it('goes on to a path of this host, and to nothing else that is named', async () => {
    const local = await newBrowser().open(
      `${(await newLink()).path}&return_to=${encodeURIComponent('/auth/organizations')}`,
    );
    expect(local.path).toMatch(/^\/auth\//);
    for (const target of ['https://evil.example/', '//evil.example', '/\\evil.example', 'javascript:alert(1)']) {
      const page = await newBrowser().open(`${(await newLink()).path}&return_to=${encodeURIComponent(target)}`);
      expect([target, page.path]).toEqual([target, '/auth/account']);
    }
  });

  it('is the oldest administrator who can act, not one who is disabled, demoted, or never came', async () => {
    const add = async (roles: (typeof ADMIN | typeof USER)[], change: object = {}, options = {}) => {
      const personId = await people.addPerson();
      const id = await people.addMember(personId, organizationId(), roles, options);
      await people.database.prisma.identity.update({ where: { id }, data: change });
      return personId;
    };
    await add([USER], { createdAt: new Date(1) });
    await add([ADMIN], { createdAt: new Date(2), disabledAt: new Date() });
    await add([ADMIN], { createdAt: new Date(3) }, { isAccepted: false });
    await add([ADMIN], { createdAt: new Date(5) });
    const oldest = await add([ADMIN], { createdAt: new Date(4) });
    const elsewhere = await people.addOrganization();
    await people.addMember(oldest, elsewhere.organizationId, [ADMIN]);
    const browser = newBrowser();
    await browser.open((await newLink()).path);
    const { claims } = (await platform.verify(browser.sessionToken!)).body;
    expect(claims).toMatchObject({ person_id: oldest, organization_id: organizationId() });
  });

  it('gives nobody rights who has the address of the administrator to be made', async () => {
    await people.addPerson(ADDRESS);
    const { path } = await newLink();
    const browser = newBrowser();
    expect(await browser.open(path)).toMatchObject({ status: 409 });
    expect(browser.sessionToken).toBeUndefined();
    expect(await administrators()).toEqual([]);
  });

  it('does not pass the single sign-on that an organization requires', async () => {
    await people.database.prisma.organization.update({ where: { id: organizationId() }, data: { ssoOnly: true } });
    const browser = newBrowser();
    await browser.open((await newLink()).path);
    expect((await platform.verify(browser.sessionToken!, { organization_id: organizationId() })).status).toBe(403);
  });

  it('needs a default organization', async () => {
    await people.database.prisma.organization.updateMany({ data: { isDefault: false } });
    expect(await platform.internal('/internal/sign-in-links', {})).toMatchObject({ status: 404 });
  });
});

describe('a link of an installation with a console', () => {
  it('leads there', async () => {
    await people.close();
    await platform.close();
    environment = { CONSOLE_URL: 'http://console.localhost:2024' };
    platform = await TestOrgAccess.start({ environment });
    people = await TestPeople.open(platform);
    const browser = newBrowser();
    const page = await browser.open((await newLink()).path);
    expect(page).toMatchObject({
      status: 303,
      headers: { location: 'http://console.localhost:2024/', 'referrer-policy': 'no-referrer' },
    });
    expect((await platform.verify(browser.sessionToken!)).status).toBe(200);
    const other = await newBrowser().open(`${(await newLink()).path}&return_to=/auth/account`);
    expect(other.path).toBe('/auth/account');
  });
});
