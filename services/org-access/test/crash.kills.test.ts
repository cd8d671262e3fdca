import { randomUUID } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import type { IssuedApiKey, IssuedScimToken, NewMember, Organization, SsoSettings } from '@runyard/contracts';
import { makeSamlResponse, makeSamlSigner, samlMetadataOf } from '@runyard/test-kit';
import { Secret, TOTP } from 'otpauth';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLATFORM_ROLES } from '../src/access/platform-roles.ts';
import { TestBrowser } from './support/browser.ts';
import { KilledService } from './support/killed-service.ts';
import { TestOidcProvider } from './support/oidc-identity-provider.ts';
import { PageClient } from './support/page-client.ts';
import { TestPeople } from './support/people.ts';
import type { TestOrgAccess } from './support/platform.ts';
import { ScimClient } from './support/scim-client.ts';

const MEMBERS = '/api/v1/orgs/current/members';
const KEYS = '/api/v1/orgs/current/service-keys';
const SETTINGS = '/api/v1/orgs/current/sso-settings';
const PASSWORD = 'seven grey herons asleep';
const SAML_ENTITY = 'https://idp.example.com/metadata';

let killed: KilledService;
let platform: TestOrgAccess;
let people: TestPeople;
let idp: TestOidcProvider;
beforeAll(async () => {
  idp = await TestOidcProvider.start();
  killed = await KilledService.start({
    OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8',
    OAUTH_CLIENT_ID: 'runyard',
    OAUTH_CLIENT_SECRET: 'the secret of the environment',
    OAUTH_ISSUER_URL: idp.issuer,
    FF_ORG_CREATION_DISABLED: 'false',
  });
  platform = killed.platform;
  people = await TestPeople.open(platform);
});
afterAll(async () => {
  await people?.close();
  await killed?.close();
  await idp?.close();
});

const newEmail = () => `${randomUUID()}@example.com`;
let addresses = 0;
const newBrowser = () => new PageClient(platform.service.url, `198.51.100.${++addresses % 250}`);
/** Returns the body of an answer that must be a success. */
const need = <Body>({ status, body }: { status: number; body: Body }): Body => {
  if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body;
};
const membersWith = (email: string) =>
  platform.query<{ id: string }>(
    'SELECT i.id::text FROM identity i JOIN person p ON p.id = person_id WHERE email = $1 AND NOT is_removed',
    [email],
  );
const expectMember = async (email: string) => expect(await membersWith(email)).toHaveLength(1);
const expectSession = async (token: string | undefined) =>
  expect((await platform.verify(token ?? '')).status).toBe(200);

const invite = async (email: string) => need(await platform.asAdmin<NewMember>('POST', MEMBERS, { email }));
const pathOf = ({ invite_link: link }: NewMember) => link!.slice(link!.indexOf('/login'));

/** Makes the account of an invited person. @returns the browser that is signed in */
async function signUp(email: string, path: string): Promise<PageClient> {
  const browser = newBrowser();
  const page = await browser.open(path);
  const form = { full_name: 'Grace Hopper', password: PASSWORD };
  const account = await browser.submit('/login/invite', form, page);
  expect(account, email).toMatchObject({ status: 200, path: '/auth/account' });
  return browser;
}

describe('org-access that is killed at any step has done nothing by halves, and does it when asked again', () => {
  it('when a person comes by OpenID Connect', () =>
    killed.killAtEachStep(
      async () => {
        const name = randomUUID();
        const [{ id }] = need(await platform.asAdmin<SsoSettings[]>('GET', SETTINGS)) as [SsoSettings];
        const claims = { sub: name, email: `${name}@example.com`, email_verified: true };
        let browser = new TestBrowser(() => platform.service.url);
        const begin = async () => idp.authorize((await browser.visit(`/auth/v1/sso/start/${id}`)).location, claims);
        const end = async (query: string) => {
          const answer = await browser.visit(`/api/v1/oauth/custom-oidc/callback?${query}`);
          expect(answer.status, answer.text).toBe(303);
        };
        const query = await begin();
        return {
          act: () => end(query),
          async retry() {
            browser = new TestBrowser(() => platform.service.url);
            await end(await begin());
          },
          async expectDone() {
            await expectMember(claims.email);
            await expectSession(browser.cookies.get('runyard_session'));
          },
        };
      },
      { commits: 2 },
    ));

  it('when a person comes by SAML', async () => {
    const signer = makeSamlSigner();
    const metadata = samlMetadataOf({ entityId: SAML_ENTITY, signInUrl: 'https://idp.example.com/sso', signer });
    const settings = {
      default_workspace_role_id: PLATFORM_ROLES.workspaceUser,
      default_workspace_ids: [platform.bootstrap.workspace_id],
      metadata_xml: metadata,
    };
    const { id } = need(await platform.asAdmin<SsoSettings>('POST', SETTINGS, settings));
    await killed.killAtEachStep(
      async () => {
        const name = randomUUID();
        let browser = new TestBrowser(() => platform.service.url);
        const begin = async () => {
          const url = new URL((await browser.visit(`/auth/v1/sso/start/${id}`)).location);
          const xml = inflateRawSync(Buffer.from(url.searchParams.get('SAMLRequest')!, 'base64')).toString();
          const response = makeSamlResponse({
            entityId: SAML_ENTITY,
            signer,
            recipient: 'http://localhost:2024/auth/v1/sso/saml/acs',
            audience: 'http://localhost:2024/auth/v1/sso/saml/metadata',
            nameId: name,
            attributes: { email: [`${name}@example.com`] },
            inResponseTo: / ID="([^"]+)"/.exec(xml)![1]!,
          });
          const form = {
            SAMLResponse: Buffer.from(response).toString('base64'),
            RelayState: url.searchParams.get('RelayState')!,
          };
          return { isCrossSite: true, form };
        };
        const end = async (form: Awaited<ReturnType<typeof begin>>) => {
          const received = await browser.visit('/auth/v1/sso/saml/acs', form);
          const answer = await browser.visit(received.location);
          expect(answer.status, answer.text).toBe(303);
        };
        const form = await begin();
        return {
          act: () => end(form),
          async retry() {
            browser = new TestBrowser(() => platform.service.url);
            await end(await begin());
          },
          async expectDone() {
            await expectMember(`${name}@example.com`);
            await expectSession(browser.cookies.get('runyard_session'));
          },
        };
      },
      { commits: 3 },
    );
  });

  it('when a person signs in with a password and a code', () =>
    killed.killAtEachStep(
      async () => {
        const email = newEmail();
        const owner = await signUp(email, pathOf(await invite(email)));
        const account = await owner.open('/auth/account');
        const setup = await owner.submit('/auth/account/authenticator', { current_password: PASSWORD }, account);
        const totp = new TOTP({ secret: Secret.fromBase32(/secret=([A-Z2-7]+)/.exec(setup.text)![1]!) });
        const now = Date.now();
        const codeAt = (offset: number) => totp.generate({ timestamp: now + offset * 30_000 });
        const confirmed = await owner.submit('/auth/account/authenticator/confirm', { code: codeAt(0) }, setup);
        const recovery = [...confirmed.text.matchAll(/<code>([a-z0-9-]{19})<\/code>/g)].map(([, each]) => each!);
        let browser = newBrowser();
        const signIn = async (secondFactor: string) => {
          await browser.submit('/auth/password', { email, password: PASSWORD });
          const page = await browser.submit('/auth/second-factor', { code: secondFactor });
          expect(page.path).toBe('/auth/account');
        };
        return {
          act: () => signIn(codeAt(1)),
          async retry() {
            browser = newBrowser();
            // A code counts once, also when its sign-in broke off.
            await signIn(recovery[0]!);
          },
          expectDone: () => expectSession(browser.sessionToken),
        };
      },
      { commits: 2 },
    ));

  it('when somebody is invited, and accepts as a new person', () =>
    killed.killAtEachStep(
      async () => {
        const email = newEmail();
        let browser: PageClient | undefined;
        const act = async () => {
          browser = await signUp(email, pathOf(await invite(email)));
        };
        return {
          act,
          async retry() {
            // Whoever asks again finds what there is already: a member signs in, and a pending invite is made anew.
            if ((await membersWith(email)).length === 0) {
              const pending = need(await platform.asAdmin<NewMember[]>('GET', `${MEMBERS}/pending?emails=${email}`));
              for (const each of pending) need(await platform.asAdmin('DELETE', `${MEMBERS}/${each.id}/pending`));
              return act();
            }
            browser = newBrowser();
            await browser.submit('/auth/password', { email, password: PASSWORD });
          },
          async expectDone() {
            await expectMember(email);
            await expectSession(browser?.sessionToken);
          },
        };
      },
      { commits: 2 },
    ));

  it.each([
    ['claims', 'POST', '/claim', 200, 1],
    ['declines', 'DELETE', '', 200, 0],
  ] as const)('when somebody with an account %s an invite', (_, method, suffix, status, members) =>
    killed.killAtEachStep(
      async () => {
        const email = newEmail();
        const personId = await people.addPerson(email);
        await people.database.prisma.person.update({ where: { id: personId }, data: { emailVerifiedAt: new Date() } });
        // Somebody without any organization could not sign in.
        const { organizationId } = await people.addOrganization();
        const roles = [{ workspaceId: null, roleId: PLATFORM_ROLES.organizationAdmin }];
        await people.addMember(personId, organizationId, roles);
        const session = await people.signIn(personId);
        await invite(email);
        const path = `/api/v1/orgs/pending/${platform.bootstrap.organization_id}${suffix}`;
        const act = async () => {
          const answer = await platform.callAs(session, method, path);
          // A 404 says that it was done before: an invite ends once.
          expect([status, 404]).toContain(answer.status);
        };
        return {
          act,
          async expectDone() {
            expect(await membersWith(email)).toHaveLength(members + 1);
            const pending = await platform.query('SELECT 1 FROM invite WHERE email = $1 AND ended_at IS NULL', [email]);
            expect(pending).toEqual([]);
          },
        };
      },
      { commits: 1 },
    ),
  );

  it.each(['made', 'rotated'])('when a key is %s with an idempotency key, which returns the same key again', (how) =>
    killed.killAtEachStep(
      async () => {
        const description = randomUUID();
        const old = how === 'rotated' ? await platform.issue({ description: `${description} before` }) : undefined;
        const path = old ? `${KEYS}/${old.id}/rotate` : KEYS;
        const repeatable = { 'idempotency-key': randomUUID() };
        let key = '';
        return {
          async act() {
            const body = old ? {} : { description };
            const admin = platform.bootstrap.api_key;
            const answer = await platform.call<IssuedApiKey>(admin, 'POST', path, body, undefined, repeatable);
            key = need(answer).key;
          },
          async expectDone() {
            await expectSession(key);
            const found = (await platform.list(platform.bootstrap.api_key)).filter((each) =>
              each.description.startsWith(description),
            );
            expect(found).toHaveLength(old ? 2 : 1);
          },
        };
      },
      { commits: 1 },
    ),
  );

  it('when a SCIM token is made: one that nobody got is in the list, to be revoked', () =>
    killed.killAtEachStep(
      async () => {
        const description = randomUUID();
        const path = '/v1/platform/orgs/current/scim/tokens';
        let token = '';
        return {
          async act() {
            token = need(await platform.asAdmin<IssuedScimToken>('POST', path, { description })).token;
          },
          async expectDone() {
            expect((await new ScimClient(platform, token).get('/Users?count=1')).status).toBe(200);
            const stored = await platform.query<{ id: string }>(
              'SELECT id::text FROM scim_token WHERE description = $1 ORDER BY id',
              [description],
            );
            const listed = need(await platform.asAdmin<{ id: string; description: string }[]>('GET', path));
            const ids = listed.filter((each) => each.description === description).map(({ id }) => id);
            expect(ids.sort()).toEqual(stored.map(({ id }) => id));
          },
        };
      },
      { commits: 1 },
    ));

  it('when an organization is made', () =>
    killed.killAtEachStep(
      async () => {
        const personId = await people.addPerson();
        const { organizationId } = await people.addOrganization();
        const administers = [{ workspaceId: null, roleId: PLATFORM_ROLES.organizationAdmin }];
        await people.addMember(personId, organizationId, administers);
        const session = await people.signIn(personId);
        const repeatable = { 'idempotency-key': randomUUID() };
        const display_name = 'Acme';
        let made = '';
        return {
          async act() {
            const token = session.token;
            const body = { display_name, is_personal: false };
            const path = '/api/v1/orgs';
            made = need(await platform.call<Organization>(token, 'POST', path, body, undefined, repeatable)).id;
          },
          async expectDone() {
            const mine = need(await platform.callAs<Organization[]>(session, 'GET', '/api/v1/orgs?skip_create=true'));
            expect(mine.map(({ id }) => id).sort()).toEqual([organizationId, made].sort());
            const inIt = { ...session, organizationId: made };
            const verified = await platform.callAs(inIt, 'GET', '/api/v1/orgs/current/audit-logs/verify');
            expect(verified.body).toMatchObject({ valid: true });
          },
        };
      },
      { commits: 1 },
    ));

  it('when SCIM makes, changes and deactivates a person', async () => {
    const scim = await ScimClient.create(platform);
    const { body: group } = await scim.createGroup('Organization User:Workspace 1:Editor');
    const known = async () => {
      const name = randomUUID();
      return { name, id: (await scim.createUser(name)).body.id as string };
    };
    const works = {
      async create() {
        const name = randomUUID();
        const expectDone = () => expectMember(`${name}@example.com`);
        // A conflict says that it was done before.
        return { act: async () => expect([201, 409]).toContain((await scim.createUser(name)).status), expectDone };
      },
      async join() {
        const { id } = await known();
        const add = { op: 'add', path: 'members', value: [{ value: id }] };
        const expectDone = async () => {
          const { body } = await scim.get(`/Groups/${group.id}`);
          expect(body.members.map(({ value }: { value: string }) => value)).toContain(id);
        };
        return { act: async () => expect((await scim.patch(`/Groups/${group.id}`, add)).status).toBe(204), expectDone };
      },
      async deactivate() {
        const { id } = await known();
        const end = { op: 'replace', path: 'active', value: false };
        const expectDone = async () => expect((await scim.get(`/Users/${id}`)).body.active).toBe(false);
        return { act: async () => expect((await scim.patch(`/Users/${id}`, end)).status).toBe(200), expectDone };
      },
    };
    for (const work of Object.values(works)) await killed.killAtEachStep(work, { commits: 1 });
  });

  it('when the first administrator makes an account by the link of the first start', async () => {
    const email = newEmail();
    const path = platform.bootstrap.administrator_setup_path!;
    let browser = newBrowser();
    const act = async () => {
      browser = newBrowser();
      const form = { full_name: 'Ada', email, password: PASSWORD };
      const done = await browser.submit('/auth/setup', form, await browser.open(path));
      expect(done).toMatchObject({ status: 200, path: '/auth/account' });
    };
    await killed.killOnce(0, act);
    expect(await membersWith(email)).toEqual([]);
    await killed.killOnce(1, act);
    await expectMember(email);
    expect((await newBrowser().open(path)).status, 'the link works once').toBe(400);
    browser = newBrowser();
    await browser.submit('/auth/password', { email, password: PASSWORD });
    await expectSession(browser.sessionToken);
  });

  it('and keeps all that it ever acknowledged', () => killed.expectNothingLost());
});
