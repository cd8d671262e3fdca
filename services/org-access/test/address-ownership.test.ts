import type { NewMember, OrgMember, PasskeyOptions, PendingOrganization } from '@runyard/contracts';
import { waitFor } from '@runyard/test-kit';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestAccounts } from './support/accounts.ts';
import { Intruder } from './support/intruder.ts';
import { TestMailServer } from './support/mail-server.ts';
import type { FetchedPage } from './support/page-client.ts';
import { TestPeople } from './support/people.ts';
import { TestOrgAccess } from './support/platform.ts';
import type { SoftwareAuthenticator } from './support/software-authenticator.ts';

const OWN_PASSWORD = 'a lighthouse keeps no diary';

let platform: TestOrgAccess;
let people: TestPeople;
let accounts: TestAccounts;
let mail: TestMailServer;
let intruder: Intruder;
beforeAll(async () => {
  mail = await TestMailServer.start();
  platform = await TestOrgAccess.start({ environment: { SMTP_URL: mail.url } });
  people = await TestPeople.open(platform);
  accounts = new TestAccounts(platform, people);
  intruder = await Intruder.create(platform, people);
});
afterAll(async () => {
  await people?.close();
  await platform?.close();
  await mail?.close();
});

/** Returns path and query of the link to a page that somebody got by email. */
async function linkTo(path: string, email: string): Promise<string> {
  const link = () =>
    mail.messages
      .filter(({ to }) => to === email)
      .map(({ raw }) => new RegExp(`http://localhost:2024(${path}\\?token=[\\w-]+)`).exec(raw)?.[1])
      .find((found) => found !== undefined);
  await waitFor(() => link() !== undefined, { what: `the link to ${path}` });
  return link()!;
}

async function signInByPasskey(authenticator: SoftwareAuthenticator): Promise<FetchedPage> {
  const browser = accounts.newBrowser();
  const { text } = await browser.open('/auth/passkey');
  const options = /data-options="([^"]+)"/.exec(text)![1]!;
  const plain = options.replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
  const credential = JSON.stringify(authenticator.get(JSON.parse(plain) as PasskeyOptions));
  return browser.submit('/auth/passkey', { credential });
}

describe('whoever proves an address takes an account over that somebody else made for it', () => {
  const PROOFS: [string, (email: string, claimed: Awaited<ReturnType<Intruder['claimByAccount']>>) => Promise<void>][] =
    [
      [
        'by the link for a forgotten password',
        async (email) => {
          await accounts.newBrowser().submit('/auth/reset', { email });
          const browser = accounts.newBrowser();
          const page = await browser.open(await linkTo('/auth/new-password', email));
          await browser.submit('/auth/new-password', { password: OWN_PASSWORD }, page);
        },
      ],
      [
        'by the link that confirms the address',
        async (email, { browser: signedIn }) => {
          await signedIn.submit('/auth/account/verification', {}, await signedIn.open('/auth/account'));
          const browser = accounts.newBrowser();
          const page = await browser.open(await linkTo('/auth/verify', email));
          expect(page.text).toContain('type="password"');
          expect(await browser.submit('/auth/verify', {}, page)).toMatchObject({ status: 422 });
          const confirmed = await browser.submit('/auth/verify', { password: OWN_PASSWORD }, page);
          expect(confirmed).toMatchObject({ status: 200, text: expect.stringContaining('is confirmed') });
        },
      ],
    ];

  it.each(PROOFS)('%s: passkeys, second factors, sessions and tokens of before end', async (_, prove) => {
    const email = `${uuidv7()}@corp.example`;
    const claimed = await intruder.claimByAccount(email);
    expect(await signInByPasskey(claimed.passkey)).toMatchObject({ path: '/auth/account' });
    expect((await platform.verify(claimed.personalToken)).status).toBe(200);
    await platform.asAdmin<NewMember>('POST', '/api/v1/orgs/current/members', { email });

    await prove(email, claimed);
    expect(await signInByPasskey(claimed.passkey)).toMatchObject({ status: 401 });
    expect((await platform.verify(claimed.browser.sessionToken!)).status).toBe(401);
    expect((await platform.verify(claimed.personalToken)).status).toBe(401);
    const { ls_user_id: personId } = claimed.member;
    expect(await people.database.prisma.recoveryCode.count({ where: { personId } })).toBe(0);

    const owner = accounts.newBrowser();
    const account = await owner.submit('/auth/password', { email, password: OWN_PASSWORD });
    expect(account).toMatchObject({ path: '/auth/account' });
    expect(account.text).not.toContain('not confirmed');
    const session = { token: owner.sessionToken! };
    const pending = await platform.callAs<PendingOrganization[]>(session, 'GET', '/api/v1/orgs/pending');
    expect(pending.body.map(({ id }) => id)).toEqual([platform.bootstrap.organization_id]);
    const claim = `/api/v1/orgs/pending/${platform.bootstrap.organization_id}/claim`;
    expect((await platform.callAs<OrgMember>(session, 'POST', claim)).status).toBe(200);
  });

  it('by a program that confirms the address of a person of single sign-on: the account ends, and a link makes a new one', async () => {
    const email = `${uuidv7()}@corp.example`;
    const claimed = await intruder.claimByAccount(email);
    await claimed.browser.submit('/auth/account/verification', {}, await claimed.browser.open('/auth/account'));
    const token = (await linkTo('/auth/verify', email)).split('=')[1];
    const confirm = () => platform.anonymous('POST', '/api/v1/sso/email-verification/confirm', { token });
    expect([(await confirm()).status, (await confirm()).status]).toEqual([200, 400]);
    expect(await signInByPasskey(claimed.passkey)).toMatchObject({ status: 401 });
    await accounts.newBrowser().submit('/auth/reset', { email });
    const browser = accounts.newBrowser();
    const page = await browser.open(await linkTo('/auth/new-password', email));
    await browser.submit('/auth/new-password', { password: OWN_PASSWORD }, page);
    const signedIn = await accounts.newBrowser().submit('/auth/password', { email, password: OWN_PASSWORD });
    expect(signedIn).toMatchObject({ path: '/auth/account' });
  });

  it('while a person whose address is proven keeps passkeys and second factors with a new password', async () => {
    const email = `${uuidv7()}@corp.example`;
    const { passkey, member } = await intruder.claimByAccount(email);
    await people.database.prisma.person.update({
      where: { id: member.ls_user_id },
      data: { emailVerifiedAt: new Date() },
    });
    await accounts.newBrowser().submit('/auth/reset', { email });
    const browser = accounts.newBrowser();
    const page = await browser.open(await linkTo('/auth/new-password', email));
    await browser.submit('/auth/new-password', { password: OWN_PASSWORD }, page);
    expect(await signInByPasskey(passkey)).toMatchObject({ path: '/auth/account' });
  });
});
