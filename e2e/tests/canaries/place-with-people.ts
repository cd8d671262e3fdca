import { Secret, TOTP } from 'otpauth';
import { inject } from 'vitest';
import type { Caller } from './caller.ts';
import { PERSON_OF_PROVIDER, startOidcServer } from './oidc-server.ts';
import { PageVisitor } from './page-visitor.ts';
import { placeSecretsOfPasskeys, placeSecretsOfPrograms } from './place-with-programs.ts';

const MEMBERS = '/api/v1/orgs/current/members';
const SETTINGS = '/api/v1/orgs/current/sso-settings';
const SCIM_TOKENS = '/v1/platform/orgs/current/scim/tokens';
const WORKSPACE_VIEWER = '5a7d6f2e-0000-4000-8000-000000000014';

/** Hands over the secrets of a person: from the invite to signing in with a code, each step also with a fault. */
export async function placeSecretsOfPeople(caller: Caller): Promise<void> {
  const { canaries } = caller;
  const email = `canary-${crypto.randomUUID()}@example.com`;
  const invited = await caller.make('POST', MEMBERS, { email });
  const link = new URL(invited.invite_link);
  canaries.add('the token of an invite', link.searchParams.get('token')!);
  const password = canaries.make('a password');
  const owner = new PageVisitor();
  const page = await owner.visit(link.pathname + link.search);
  await owner.visit('/login/invite', { full_name: 'Canary', password: 'short' }, page.text);
  const accepted = await owner.visit('/login/invite', { full_name: 'Canary', password }, page.text);
  if (accepted.status !== 303) throw new Error(`no account: ${accepted.status} ${accepted.text}`);
  canaries.add('the token of a session', owner.cookies.at(-1)!);
  await placeSecretsOfSessions(caller, owner);
  await placeSecretsOfPrograms(caller, owner);
  await placeSecretsOfPasskeys(caller, owner, password);
  await placeSecondFactor(caller, owner, { email, password });

  const stranger = new PageVisitor();
  await stranger.visit('/auth/password', { email, password: canaries.make('a wrong password') });
  const basic = Buffer.from(`${email}:${canaries.make('a wrong password of a program')}`).toString('base64');
  await caller.ask('POST', '/api/v1/login', { key: null, headers: { authorization: `Basic ${basic}` } });
  for (const path of ['/login/invite', '/auth/setup', '/auth/new-password', '/auth/verify']) {
    await stranger.visit(`${path}?token=${canaries.make(`${path}: a wrong token`)}`);
    await stranger.visit(path, { token: canaries.make(`${path}: a wrong token in a form`), password });
  }
  const setUp = /\/auth\/setup\?token=([\w-]+)/.exec(inject('platform').output);
  if (setUp) {
    canaries.add('the link of the first start', setUp[1]!);
    await stranger.visit(setUp[0]);
  }
  const byAdministrator = canaries.make('a password that an administrator chose');
  const account = { email: `b-${email}`, full_name: 'Canary', password: byAdministrator };
  await caller.ask('POST', `${MEMBERS}/basic/batch`, { body: [account] });
  await caller.ask('POST', `${MEMBERS}/basic/batch`, { body: [{ ...account, email: [byAdministrator] }] });
}

async function placeSecretsOfSessions(caller: Caller, owner: PageVisitor): Promise<void> {
  const { canaries } = caller;
  const headers = () => ({ cookie: owner.cookieHeader, 'sec-fetch-site': 'same-origin' });
  const sessions = '/api/v1/sessions/current';
  const issued = await caller.ask('POST', `${sessions}/access-token`, { key: null, headers: headers() });
  const token = canaries.add('the access token of a session', issued.body.access_token);
  const authorization = `Bearer ${token}`;
  for (const path of ['/auth/public', '/v2/deployments', `${inject('platform').deploymentUrl}/info`])
    await caller.ask('GET', path, { key: null, headers: { authorization } });
  await caller.ask('GET', '/auth/public', { key: null, headers: { authorization: `${authorization}x` } });
  const made = await caller.ask('POST', '/api/v1/orgs/current/personal-access-tokens', {
    key: null,
    headers: headers(),
    body: { description: 'canary' },
  });
  canaries.add('a personal token', made.body.key);
  await caller.ask('GET', '/api/v1/orgs/current', { key: made.body.key });
}

async function placeSecondFactor(
  { canaries }: Caller,
  owner: PageVisitor,
  { email, password }: { email: string; password: string },
): Promise<void> {
  const account = await owner.visit('/auth/account');
  await owner.visit('/auth/account/authenticator', { current_password: password }, account.text);
  const page = await owner.visit('/auth/account/authenticator');
  const seed = canaries.add('the seed of an authenticator', /secret=([A-Z2-7]+)/.exec(page.text)![1]!);
  const totp = new TOTP({ secret: Secret.fromBase32(seed) });
  const confirmed = await owner.visit('/auth/account/authenticator/confirm', { code: totp.generate() }, page.text);
  const codes = [...confirmed.text.matchAll(/<code>([a-z0-9-]{19})<\/code>/g)].map(([, code]) => code!);
  if (codes.length !== 10) throw new Error(`no recovery codes: ${confirmed.status} ${confirmed.text}`);
  for (const code of codes) {
    canaries.add('a recovery code', code);
    canaries.add('a recovery code without its dashes', code.replaceAll('-', ''));
  }
  const again = new PageVisitor();
  await again.visit('/auth/password', { email, password });
  canaries.add('the token of half a sign-in', again.cookies.at(-1)!);
  await again.visit('/auth/second-factor', { code: canaries.make('a wrong code') });
  await again.visit('/auth/second-factor', { code: codes[0]! });
  canaries.add('the token of a second session', again.cookies.at(-1)!);
}

/** Hands over the secrets of identity providers: of their settings, of sign-ins that fail and succeed, and of SCIM. */
export async function placeSecretsOfProviders(caller: Caller): Promise<void> {
  const { canaries } = caller;
  const idp = await startOidcServer(canaries);
  const settings = {
    default_workspace_role_id: WORKSPACE_VIEWER,
    default_workspace_ids: [],
    issuer_url: idp.issuer,
    client_id: 'canary',
    client_secret: canaries.make('the client secret of a provider'),
  };
  const [workspace] = await caller.make('GET', '/api/v1/workspaces');
  const provider = await caller.make('POST', SETTINGS, { ...settings, default_workspace_ids: [workspace.id] });
  await caller.ask('PATCH', `${SETTINGS}/${provider.id}`, {
    body: { client_secret: [canaries.make('the client secret of a provider, of a wrong type')] },
  });
  // Others switch the provisioning of strangers off and on meanwhile.
  await caller.make('POST', MEMBERS, { email: PERSON_OF_PROVIDER });
  const isIn: boolean[] = [];
  for (const how of ['refused', 'accepted']) {
    const browser = new PageVisitor();
    const { location } = await browser.visit(`/auth/v1/sso/start/${provider.id}`);
    const query = new URL(location).searchParams;
    const state = canaries.add(`the state of a sign-in that is ${how}`, query.get('state')!);
    idp.expect(canaries.add(`the nonce of a sign-in that is ${how}`, query.get('nonce')!));
    const code = canaries.make(`the code of a sign-in that is ${how}`);
    canaries.add(`the cookie of a sign-in that is ${how}`, browser.cookies.at(-1)!);
    const suffix = how === 'refused' ? 'refused' : '';
    const path = `${new URL(provider.callback_url).pathname}?code=${code}${suffix}&state=${state}`;
    isIn.push((await browser.visit(path)).status === 303);
    if (isIn.at(-1)) canaries.add('the token of a session by a provider', browser.cookies.at(-1)!);
  }
  if (isIn.join() !== 'false,true') throw new Error(`sign-ins by the provider: ${isIn}`);
  const saml = { SAMLResponse: Buffer.from(`<x>${canaries.make('an assertion')}</x>`).toString('base64') };
  await new PageVisitor().visit('/auth/v1/sso/saml/acs', { ...saml, RelayState: canaries.make('a RelayState') });
  await new PageVisitor().visit('/api/v1/oauth/custom-oidc/backchannel-logout', {
    logout_token: canaries.make('a logout token'),
  });
  await caller.make('DELETE', `${SETTINGS}/${provider.id}`);
  idp.close();

  const { id, token } = await caller.make('POST', SCIM_TOKENS, { description: 'canary' });
  for (const bearer of [canaries.add('a SCIM token', token), `ryscim_${canaries.make('a wrong SCIM token')}`]) {
    const headers = { authorization: `Bearer ${bearer}` };
    await caller.ask('GET', '/scim/v2/Users?count=1', { key: null, headers });
    const password = canaries.make('the password of a SCIM user');
    await caller.ask('POST', '/scim/v2/Users', { key: null, headers, body: { userName: [password], password } });
  }
  await caller.make('DELETE', `${SCIM_TOKENS}/${id}`);
}

/** Hands over secrets of a workspace. */
export async function placeSecretsOfWorkspaces(caller: Caller): Promise<void> {
  const { canaries } = caller;
  const path = '/api/v1/workspaces/current/secrets';
  await caller.make('POST', path, [{ key: 'CANARY', value: canaries.make('a secret of a workspace') }]);
  await caller.ask('POST', path, { body: [{ key: 'CANARY', value: [canaries.make('a secret of a wrong type')] }] });
  await caller.make('POST', path, [{ key: 'CANARY', value: null }]);
}
