import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { type BootstrapResponse, PRINCIPAL_HEADER } from '@runyard/contracts';
import { createTestDatabase, freePort, startServiceProcess, testRedis } from '@runyard/test-kit';
import { Secret, TOTP } from 'otpauth';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { listAccessibilityViolations, newVisitor, startBrowser } from '../harness/browser.ts';

const ORG_ACCESS = path.resolve(import.meta.dirname, '../../services/org-access');
const INTERNAL_TOKEN = 'the platform speaks to itself alone';
const PASSWORD = 'seven grey herons asleep';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let service: Awaited<ReturnType<typeof startServiceProcess>>;
let browser: Awaited<ReturnType<typeof startBrowser>>;
let bootstrap: BootstrapResponse;
let publicUrl: string;
const redis = testRedis();
beforeAll(async () => {
  database = await createTestDatabase(path.join(ORG_ACCESS, 'prisma/migrations'));
  // Browsers make passkeys for the host name that the service knows as its own.
  const port = await freePort();
  publicUrl = `http://localhost:${port}`;
  service = await startServiceProcess({
    entry: path.join(ORG_ACCESS, 'src/main.ts'),
    readyPath: '/ok?check_db=1',
    env: { EVENT_BUS: 'redis', TOPIC_PREFIX: redis.prefix, PORT: `${port}`, PUBLIC_URL: publicUrl },
    secrets: {
      DATABASE_URI: database.url,
      EVENT_BUS_REDIS_URI: redis.url,
      INTERNAL_TOKEN,
      ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    },
  });
  bootstrap = await post('/internal/bootstrap', {}, { authorization: `Bearer ${INTERNAL_TOKEN}` });
  browser = await startBrowser();
});
afterAll(async () => {
  await browser?.close();
  await service?.stop();
  await database?.close();
  await redis.close();
});

async function post<Body>(target: string, body: object, headers: Record<string, string>): Promise<Body> {
  const answer = await fetch(service.url + target, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${target} answers ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Body;
}

/** Invites a person, as the gateway does for the first administrator key. @returns the path of the link */
async function invite(email: string): Promise<string> {
  const check = { key: bootstrap.api_key, audience: 'org-access' };
  const internal = { authorization: `Bearer ${INTERNAL_TOKEN}` };
  const { token } = await post<{ token: string }>('/internal/keys/verify', check, internal);
  const principal = { [PRINCIPAL_HEADER]: token };
  const made = await post<{ invite_link: string }>('/api/v1/orgs/current/members', { email }, principal);
  const { pathname, search } = new URL(made.invite_link);
  return pathname + search;
}

/** A person with a browser. Every page they come to is looked at by axe. */
async function newPerson({ javaScriptEnabled = false } = {}) {
  const page = await (await newVisitor(browser, { javaScriptEnabled })).newPage();
  const violations: string[] = [];
  const look = async (title: string) => {
    expect(await page.title()).toBe(`${title} – Runyard`);
    violations.push(...(await listAccessibilityViolations(page)));
  };
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const fill = (label: string, value: string) => page.getByLabel(label, { exact: true }).fill(value);
  return { page, violations, look, press, fill, open: (target: string) => page.goto(publicUrl + target) };
}

it('the first administrator signs up by the link, and signs in with an authenticator app, in a browser without script', async () => {
  const { page, violations, look, press, fill, open } = await newPerson();
  await open(bootstrap.administrator_setup_path!);
  await look('Set up the first administrator');
  await fill('Name', 'Ada Lovelace');
  await fill('Email address', 'ada@example.com');
  await fill('Password', 'password1234');
  await press('Create the account');
  await look('Error: Set up the first administrator');
  await fill('Password', PASSWORD);
  await press('Create the account');
  await look('Ada Lovelace');

  await fill('Current password, to set up the app', PASSWORD);
  await press('Set up an app');
  await look('Set up an authenticator app');
  const secret = (await page.locator('code').textContent())!.replaceAll(' ', '');
  const codeAt = (step: number) =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + step * 30_000 });
  await fill('Code', codeAt(0));
  await press('Confirm');
  await look('Keep your recovery codes');
  await page.getByRole('link', { name: 'Go to your account' }).click();
  await press('Sign out');

  await look('Sign in');
  await fill('Email address', 'ada@example.com');
  await press('Continue');
  await look('Enter your password');
  await fill('Password', PASSWORD);
  await press('Sign in');
  await look('Enter your code');
  await fill('Code', codeAt(1));
  await press('Sign in');
  await look('Ada Lovelace');
  expect(violations).toEqual([]);
});

it('a new person accepts an invite in a browser without script, and a link that was used says so', async () => {
  const { page, violations, look, press, fill, open } = await newPerson();
  const link = await invite('grace@example.com');
  await open(link);
  await look('Join Default');
  await fill('Name', 'Grace Hopper');
  await fill('Password', PASSWORD);
  await press('Create an account and accept');
  await look('Grace Hopper');
  expect(await page.getByText('You act in the organization').textContent()).toContain('Default');
  await open(link);
  await look('Error: This does not work');
  expect(violations).toEqual([]);
});

/** Plugs an authenticator into the browser, which keeps passkeys and knows its person. */
async function plugAuthenticatorIn(page: Page) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
    },
  });
  const credentials = async () => {
    const found = await devtools.send('WebAuthn.getCredentials', { authenticatorId });
    return found.credentials;
  };
  const setVerified = (isUserVerified: boolean) =>
    devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
  return { credentials, setVerified };
}

it('a person adds a passkey in the browser, and signs in with it alone and after the password', async () => {
  const { page, violations, look, press, fill, open } = await newPerson({ javaScriptEnabled: true });
  const refused: string[] = [];
  page.on('console', (message) => message.type() === 'error' && refused.push(message.text()));
  const { credentials, setVerified } = await plugAuthenticatorIn(page);
  await open(await invite('hedy@example.com'));
  await fill('Name', 'Hedy Lamarr');
  await fill('Password', PASSWORD);
  await press('Create an account and accept');
  await look('Hedy Lamarr');

  await page.getByRole('link', { name: 'Passkeys' }).click();
  await look('Passkeys');
  await fill('Current password', PASSWORD);
  await press('Continue');
  await look('Add a passkey');
  await fill('Name', 'Laptop');
  await press('Make the passkey');
  await page.waitForURL('**/auth/account/passkeys/add');
  await look('Keep your recovery codes');
  expect(await credentials()).toMatchObject([{ rpId: 'localhost', isResidentCredential: true }]);
  await page.getByRole('link', { name: 'Go to your account' }).click();
  await press('Sign out');

  await look('Sign in');
  await page.getByRole('link', { name: 'Sign in with a passkey' }).click();
  await look('Sign in with a passkey');
  await press('Use a passkey');
  await page.waitForURL('**/auth/account');
  await look('Hedy Lamarr');
  await press('Sign out');

  await fill('Email address', 'hedy@example.com');
  await press('Continue');
  await fill('Password', PASSWORD);
  await press('Sign in');
  await look('Prove that it is you');
  await press('Use a passkey');
  await page.waitForURL('**/auth/account');
  await page.getByRole('link', { name: 'Passkeys' }).click();
  expect(await page.getByText('Last used').count()).toBe(1);
  await look('Passkeys');
  await page.goBack();
  await press('Sign out');

  await page.getByRole('link', { name: 'Sign in with a passkey' }).click();
  await setVerified(false);
  await press('Use a passkey');
  await page.getByText('No passkey was used').waitFor();
  await look('Sign in with a passkey');
  expect(violations).toEqual([]);
  expect(refused.filter((text) => text.includes('Content Security Policy'))).toEqual([]);
});

it('a page for a passkey leads on to the password in a browser without script', async () => {
  const { page, violations, look, open } = await newPerson();
  await open('/auth/passkey');
  await look('Sign in with a passkey');
  expect(await page.getByRole('button').count()).toBe(0);
  await page.getByText('needs JavaScript').waitFor();
  await page.getByRole('link', { name: 'Sign in in another way' }).click();
  await look('Sign in');
  expect(violations).toEqual([]);
});
