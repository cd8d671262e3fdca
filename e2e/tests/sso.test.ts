import { createHash } from 'node:crypto';
import type { SsoSettings, Workspace } from '@runyard/contracts';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { newVisitor, startBrowser } from '../harness/browser.ts';
import { type OidcServer, type SamlServer, startOidcServer, startSamlServer } from '../harness/identity-providers.ts';

const { url, apiKey } = inject('platform');
const WORKSPACE_VIEWER = '5a7d6f2e-0000-4000-8000-000000000014';
const ORGANIZATION_VIEWER = '5a7d6f2e-0000-4000-8000-000000000003';
const SETTINGS = '/api/v1/orgs/current/sso-settings';
/** A page of the platform that anybody may see. */
const AFTERWARDS = '/ok';

async function ask<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
  const answer = await fetch(url + path, {
    method,
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Answer;
}

let browser: Browser;
let oidc: OidcServer;
let saml: SamlServer;
let byOidc: SsoSettings;
let bySaml: SsoSettings;
beforeAll(async () => {
  [browser, oidc, saml] = await Promise.all([
    startBrowser(),
    startOidcServer({
      client_id: 'runyard',
      client_secret: 'a secret of the test',
      redirect_uris: [`${url}/not-yet-known`],
      post_logout_redirect_uris: [`${url}/login`],
      backchannel_logout_uri: `${url}/api/v1/oauth/custom-oidc/backchannel-logout`,
      backchannel_logout_session_required: true,
    }),
    startSamlServer({ consumer: `${url}/auth/v1/sso/saml/acs`, entityId: `${url}/auth/v1/sso/saml/metadata` }),
  ]);
  const [workspace] = await ask<Workspace[]>('GET', '/api/v1/workspaces');
  const defaults = { default_workspace_role_id: WORKSPACE_VIEWER, default_workspace_ids: [workspace!.id] };
  byOidc = await ask('POST', SETTINGS, {
    ...defaults,
    issuer_url: oidc.issuer,
    client_id: 'runyard',
    client_secret: 'a secret of the test',
    logout_at_provider: true,
  });
  await oidc.registerCallback(byOidc.callback_url);
  bySaml = await ask('POST', SETTINGS, { ...defaults, metadata_url: saml.metadataUrl, idp_initiated_enabled: true });
});
afterAll(async () => {
  for (const provider of [byOidc, bySaml]) if (provider) await ask('DELETE', `${SETTINGS}/${provider.id}`);
  await Promise.all([browser?.close(), oidc?.close(), saml?.close()]);
});

/** Opens a browser on its way to a provider. */
async function begin(provider: SsoSettings): Promise<{ visitor: BrowserContext; page: Page }> {
  const visitor = await newVisitor(browser);
  const page = await visitor.newPage();
  await page.goto(`${url}/auth/v1/sso/start/${provider.id}?return_to=${AFTERWARDS}`);
  return { visitor, page };
}

/** Signs in at the OIDC server, and agrees to what it asks. */
async function signInByOidc(login: string) {
  const { visitor, page } = await begin(byOidc);
  await page.fill('input[name=login]', login);
  await page.fill('input[name=password]', 'any');
  await page.click('button[type=submit]');
  // The next page asks whether the platform may know the address.
  await page.waitForSelector('input[name=login]', { state: 'detached' });
  await Promise.all([page.waitForURL((at) => at.origin === url), page.click('button[type=submit]')]);
  return { visitor, page };
}

/** Sends the form of the SAML provider, and then its answer. */
async function finishSaml(page: Page): Promise<void> {
  await page.click('text=Sign in');
  await Promise.all([page.waitForURL((at) => at.origin === url), page.click('text=Continue')]);
}

const sessionOf = async (visitor: BrowserContext) =>
  (await visitor.cookies()).find(({ name }) => name === 'runyard_session')?.value;

/** Returns the status for the person who is signed in, as a page of the platform would get it. */
const statusOf = async (visitor: BrowserContext) =>
  (await visitor.request.get(`${url}/api/v1/workspaces`, { headers: { 'sec-fetch-site': 'same-origin' } })).status();

describe('in a browser', () => {
  it('a person signs in at an OIDC server, acts with the session, and signs out here and there', async () => {
    const { visitor, page } = await signInByOidc('alice');
    expect(page.url()).toBe(url + AFTERWARDS);
    expect(await statusOf(visitor)).toBe(200);
    const token = (await sessionOf(visitor)) ?? '';
    const csrf_token = createHash('sha256').update(`csrf ${token}`).digest('base64url');
    const out = await visitor.request.post(`${url}/auth/v1/sso/logout`, {
      form: { csrf_token },
      headers: { origin: url, 'sec-fetch-site': 'same-origin' },
      maxRedirects: 0,
    });
    expect(out.headers().location).toContain(oidc.issuer);
    expect(await sessionOf(visitor)).toBeUndefined();
    await visitor.close();
  });

  it('signing out at the OIDC server ends the session here', async () => {
    const { visitor, page } = await signInByOidc('bob');
    expect(await statusOf(visitor)).toBe(200);
    await page.goto(`${oidc.issuer}/session/end`);
    await page.click('button[value=yes]');
    expect(oidc.failures).toEqual([]);
    await expect.poll(() => statusOf(visitor)).toBe(401);
    await visitor.close();
  });

  it('sign-in goes on after the OIDC server rotated its keys', async () => {
    await (await signInByOidc('carol')).visitor.close();
    await oidc.rotateKey();
    const { visitor, page } = await signInByOidc('carol');
    expect(page.url()).toBe(url + AFTERWARDS);
    await visitor.close();
  });

  it('an invite decides on the role of who signs in for the first time', async () => {
    await ask('POST', '/api/v1/orgs/current/members', { email: 'frank@example.com', role_id: ORGANIZATION_VIEWER });
    await (await signInByOidc('frank')).visitor.close();
    const query = 'emails=frank%40example.com';
    const [member] = await ask<{ role_id: string }[]>('GET', `/api/v1/orgs/current/members/active?${query}`);
    expect(member).toMatchObject({ email: 'frank@example.com', role_id: ORGANIZATION_VIEWER, tenant_ids: [] });
  });

  it('a person without the required group sees why they may not enter, and has no session', async () => {
    const required = { sso_groups_enabled: true, sso_groups_required: true };
    await ask('PATCH', `${SETTINGS}/${byOidc.id}`, required);
    const { visitor, page } = await signInByOidc('dave');
    expect(await page.textContent('h1')).toBe('Sign-in failed');
    expect(await sessionOf(visitor)).toBeUndefined();
    await ask('PATCH', `${SETTINGS}/${byOidc.id}`, { sso_groups_enabled: false, sso_groups_required: false });
    await visitor.close();
  });

  it('a person signs in by SAML, from here and from the provider', async () => {
    const fromHere = await begin(bySaml);
    await fromHere.page.fill('input[name=login]', 'erin');
    await finishSaml(fromHere.page);
    expect(fromHere.page.url()).toBe(url + AFTERWARDS);
    expect(await statusOf(fromHere.visitor)).toBe(200);

    const visitor = await newVisitor(browser);
    const page = await visitor.newPage();
    await page.goto(saml.startUrl);
    await page.fill('input[name=login]', 'erin');
    await finishSaml(page);
    expect(await statusOf(visitor)).toBe(200);
    await Promise.all([fromHere.visitor.close(), visitor.close()]);
  });
});
