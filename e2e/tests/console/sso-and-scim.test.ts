import { randomUUID } from 'node:crypto';
import type { AccessExplanation, IssuedApiKey, OrganizationInfo, SsoSettings } from '@runyard/contracts';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { listAccessibilityViolations, startBrowser } from '../../harness/browser.ts';
import { askAsAdministrator, makePerson, newPerson, openPages, openWindow, type Pages } from '../../harness/console.ts';
import {
  type OidcServer,
  type SamlServer,
  startOidcServer,
  startSamlServer,
} from '../../harness/identity-providers.ts';

const { url, consoleUrl } = inject('platform');
const CLIENT = { client_id: 'console', client_secret: 'a secret of the console', redirect_uris: [`${url}/not-yet`] };
let browser: Browser;
let oidc: OidcServer;
let saml: SamlServer;
/** The pages of an Organization Admin. */
let pages: Pages;

beforeAll(async () => {
  [browser, oidc, saml] = await Promise.all([
    startBrowser(),
    startOidcServer(CLIENT),
    startSamlServer({ consumer: `${url}/auth/v1/sso/saml/acs`, entityId: `${url}/auth/v1/sso/saml/metadata` }),
  ]);
  pages = await openPages(browser, await makePerson('Admin', 'Admin'));
});
afterAll(() => Promise.all([browser?.close(), oidc?.close(), saml?.close()]));

/** Signs in at the OIDC server, and agrees to what it asks. */
async function signInAtProvider(page: Page, login: string): Promise<void> {
  await page.fill('input[name=login]', login);
  await page.fill('input[name=password]', 'any');
  await page.click('button[type=submit]');
  await page.waitForSelector('input[name=login]', { state: 'detached' });
  await Promise.all([page.waitForURL((at) => at.origin === url), page.click('button[type=submit]')]);
}

it('an administrator sets an OIDC provider up, tests it, and a person signs in by it', async () => {
  const name = `Company ${randomUUID().slice(0, 8)}`;
  const { page } = await pages.open('/organization/sso');
  await page.getByRole('link', { name: 'People who were not let in' }).waitFor();
  await page.getByRole('button', { name: 'New identity provider …' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill(name);
  await dialog.getByLabel('Issuer').fill(oidc.issuer);
  await dialog.getByLabel('Client ID').fill(CLIENT.client_id);
  await dialog.getByLabel('Client secret').fill('another secret');
  expect(await listAccessibilityViolations(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();

  const card = page.getByRole('article', { name });
  await card.getByRole('button', { name: `Test ${name}` }).click();
  await card.getByText('The provider refuses the client ID or the secret.').waitFor();

  await card.getByRole('button', { name: `Change ${name}` }).click();
  await dialog.getByLabel('Client secret').fill(CLIENT.client_secret);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  await card.getByRole('button', { name: `Test ${name}` }).click();
  await card.getByText('The provider works, as far as can be seen from here').waitFor();
  expect(await listAccessibilityViolations(page)).toEqual([]);
  await page.setViewportSize({ width: 320, height: 800 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBeLessThanOrEqual(0);
  await page.setViewportSize({ width: 1280, height: 800 });

  const callback = (await card.getByText('/custom-oidc/callback/').textContent())!;
  await oidc.registerCallback(callback);
  const visitor = await newPerson(browser);
  const visit = await openWindow(visitor);
  await visit.page.goto(`${url}/auth/v1/sso/start/${callback.split('/').at(-1)}?return_to=/ok`);
  await signInAtProvider(visit.page, 'heron');
  await visit.page.goto(consoleUrl);
  await visit.page.getByRole('navigation', { name: 'Workspace' }).waitFor();
  await visitor.close();

  await card.getByRole('button', { name: `Delete ${name}` }).click();
  await page.getByLabel(`Type ${name} to confirm`).fill(name);
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await card.waitFor({ state: 'detached' });
});

it('an administrator sets a SAML provider up by its metadata, and reads when its certificate ends', async () => {
  const name = `Company ${randomUUID().slice(0, 8)}`;
  const { page } = await pages.open('/organization/sso');
  await page.getByRole('button', { name: 'New identity provider …' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Protocol').selectOption('saml');
  await dialog.getByText(`${url}/auth/v1/sso/saml/acs`).waitFor();
  await dialog.getByLabel('Name', { exact: true }).fill(name);
  await dialog.getByLabel('Address of the metadata').fill(saml.metadataUrl);
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  const card = page.getByRole('article', { name });
  await card.getByRole('button', { name: `Test ${name}` }).click();
  await card.getByText('The provider works, as far as can be seen from here').waitFor();
  await card.getByText(/The certificate of the provider ends on \d{4}-\d\d-\d\d/).waitFor();
  const providers = await askAsAdministrator<SsoSettings[]>('GET', '/api/v1/orgs/current/sso-settings');
  const made = providers.find((each) => each.display_name === name)!;
  await askAsAdministrator('DELETE', `/api/v1/orgs/current/sso-settings/${made.id}`);
});

it('a token that an administrator makes provisions a user and a group, which then show with their roles', async () => {
  const { page } = await pages.open('/organization/scim');
  const base = (await page.getByText('/scim/v2').first().textContent())!;
  const { addresses } = await askAsAdministrator<OrganizationInfo>('GET', '/api/v1/orgs/current/info');
  expect(base).toBe(addresses.scim);
  await page.getByRole('button', { name: 'New token …' }).click();
  await page.getByLabel('Description').fill('Directory of the console');
  await page.getByRole('button', { name: 'Create' }).click();
  const token = await page.getByRole('textbox', { name: 'The token' }).inputValue();
  await page.getByRole('button', { name: 'Done' }).click();
  const provision = async <Answer>(method: string, path: string, body?: object) => {
    const answer = await fetch(base + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    expect(answer.ok).toBe(true);
    return (method === 'DELETE' ? undefined : await answer.json()) as Answer;
  };

  const [workspace] = await askAsAdministrator<{ display_name: string }[]>('GET', '/api/v1/workspaces');
  const name = `heron-${randomUUID().slice(0, 8)}`;
  const email = `${name}@people.example`;
  const user = await provision<{ id: string }>('POST', '/Users', {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName: name,
    emails: [{ type: 'work', value: email, primary: true }],
  });
  const group = await provision<{ id: string }>('POST', '/Groups', {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
    displayName: `${name} Organization User:${workspace!.display_name}:Editor`,
    members: [{ value: user.id }],
  });
  await page.getByLabel('Name or address of users and groups').fill(name);
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  const gives = `Editor in ${workspace!.display_name}`;
  const users = page.getByRole('region', { name: 'Users' });
  expect(await users.getByRole('row', { name: email }).textContent()).toContain(gives);
  const groups = page.getByRole('region', { name: 'Groups' });
  expect(await groups.getByRole('row', { name }).textContent()).toContain(`Organization User, ${gives}`);
  expect(await listAccessibilityViolations(page)).toEqual([]);

  await provision('DELETE', `/Groups/${group.id}`);
  await provision('DELETE', `/Users/${user.id}`);
  await page.getByRole('button', { name: 'Revoke Directory of the console' }).click();
  const question = page.getByRole('alertdialog');
  await question.getByRole('textbox').fill((await question.locator('code').textContent())!.slice(-4));
  await question.getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('rowheader', { name: 'Directory of the console' }).waitFor({ state: 'detached' });
});

it('a key that only reads is said to withhold what its account may do, as the API says it', async () => {
  const description = `reader ${randomUUID().slice(0, 8)}`;
  const [workspace] = await askAsAdministrator<{ id: string }[]>('GET', '/api/v1/workspaces');
  const key = await askAsAdministrator<IssuedApiKey>('POST', '/api/v1/orgs/current/service-keys', {
    description,
    read_only: true,
    workspaces: [workspace!.id],
    role_id: '5a7d6f2e-0000-4000-8000-000000000012',
  });
  const question = { identity: key.service_account_id!, permission: 'runs:create', resource: workspace!.id };
  const query = new URLSearchParams({ ...question, api_key_id: key.id });
  const explained = await askAsAdministrator<AccessExplanation>('GET', `/api/v1/orgs/current/access/explain?${query}`);
  expect(explained.allowed).toBe(false);

  const { page } = await pages.open(`/organization/access?identity=${question.identity}`);
  await page.getByText(`may runs:create`).waitFor();
  await page.getByLabel('By', { exact: true }).selectOption(key.id);
  await page.getByText(`may not runs:create with this key`).waitFor();
  for (const { description: change } of explained.changes) await page.getByText(change).waitFor();
  expect(new URL(page.url()).searchParams.get('key')).toBe(key.id);

  // A search among many people leaves out who is asked about: the question stays.
  await page.getByLabel('Name or address of people and programs').fill(randomUUID());
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  await page.waitForURL(/[?&]q=/);
  const asked = page.getByLabel('Person or service account');
  // The people of before stay until the search has an answer.
  await expect.poll(() => asked.locator('option').allTextContents()).toEqual(['Choose one', explained.identity.name]);
  expect(await asked.inputValue()).toBe(question.identity);
  expect(await listAccessibilityViolations(page)).toEqual([]);
  await askAsAdministrator('DELETE', `/api/v1/orgs/current/service-keys/${key.id}`);
});

it('who is no Organization Admin sees neither the providers nor a button that works', async () => {
  const others = await openPages(browser, await makePerson('Editor'));
  const { page } = await others.open('/organization/sso');
  await page.getByText('Only an Organization Admin sees the identity providers').waitFor();
  const add = page.getByRole('button', { name: 'New identity provider …' });
  expect(await add.getAttribute('aria-disabled')).toBe('true');
  // It leads to the audit trail, which is for those who manage the organization.
  expect(await page.getByRole('link', { name: 'People who were not let in' }).count()).toBe(0);
  const scim = await others.open('/organization/scim');
  expect(await scim.page.getByRole('button', { name: 'New token …' }).getAttribute('title')).toBe(
    'Only an Organization Admin may do this',
  );
  await others.context.close();
});
