import {
  beginSsoSignIn,
  chooseSsoProvider,
  completeSamlSignIn,
  endSsoSession,
  endSsoSessionsByProvider,
  finishOidcSignIn,
  finishOidcSignInOfProvider,
  getSamlMetadata,
  receiveSamlResponse,
  signOutAtProvider,
} from '@runyard/contracts';
import {
  type BoundOperation,
  bind,
  ForbiddenError,
  type HandlerRequest,
  InvalidFieldError,
  ok,
  type Reply,
  redirect,
} from '@runyard/service-kit';
import type { Database } from '../../database/database.ts';
import { withLoginSlug } from '../../directory/organizations/login-slug.ts';
import { clearedSessionCookie, isCsrfTokenOf, sessionCookie, sessionTokenIn } from '../sessions/session-cookie.ts';
import { browserCookie, browserOf, knownBrowserOf } from './browser-cookie.ts';
import type { SignInCompletion, VerifiedAnswer } from './complete-sign-in.ts';
import { failurePage } from './failure-page.ts';
import type { BackchannelLogout } from './oidc/backchannel-logout.ts';
import type { OidcSignIn } from './oidc/oidc-sign-in.ts';
import { providerChoicePage } from './provider-choice-page.ts';
import { checkedReturnTo } from './return-to.ts';
import type { SamlClient } from './saml/saml-client.ts';
import type { SamlSignIn } from './saml/saml-sign-in.ts';
import { SignInRefusedError } from './sign-in-refusal.ts';
import type { SsoLogout } from './sso-logout.ts';

export interface SignInParts {
  database: Database;
  oidc: OidcSignIn;
  saml: SamlSignIn;
  samlClient: SamlClient;
  completion: SignInCompletion;
  backchannel: BackchannelLogout;
  logout: SsoLogout;
}

/** The shape of what `PendingSignIns` hands out; another RelayState is a page to go to, and began at the provider. */
const STATE = /^[\w-]{43}$/;

/** Serves browsers on their way to identity providers and back, and the providers themselves. */
export function signInRoutes(parts: SignInParts): BoundOperation[] {
  const { saml } = parts;
  return [
    bind(chooseSsoProvider, (request) =>
      withFailurePage(request, () => choose(parts, request.params.sso_login_slug, request.query.return_to)),
    ),
    bind(beginSsoSignIn, (request) =>
      withFailurePage(request, () => begin(parts, request, request.params.sso_provider_id, request.query.return_to)),
    ),
    bind(finishOidcSignIn, (request) => withFailurePage(request, () => finishOidc(parts, request, null))),
    bind(finishOidcSignInOfProvider, (request) =>
      withFailurePage(request, () => finishOidc(parts, request, request.params.sso_provider_id.toLowerCase())),
    ),
    bind(endSsoSessionsByProvider, async ({ body }) => {
      const isEnded = await parts.backchannel.end(body.logout_token);
      if (!isEnded) throw new InvalidFieldError(['body', 'logout_token'], 'The logout token is not valid.');
      return ok(undefined, { 'cache-control': 'no-store' });
    }),
    bind(getSamlMetadata, () =>
      ok(parts.samlClient.metadata(), { 'content-type': 'application/samlmetadata+xml; charset=utf-8' }),
    ),
    bind(receiveSamlResponse, (request) =>
      withFailurePage(request, async () => {
        const { SAMLResponse: response, RelayState: relayState } = request.body;
        if (relayState === undefined || !STATE.test(relayState)) {
          return letIn(parts, request, await saml.receiveUnasked(response), checkedReturnTo(relayState));
        }
        const state = await saml.receive(response, relayState);
        return redirect(`/auth/v1/sso/saml/complete?state=${state}`);
      }),
    ),
    bind(completeSamlSignIn, (request) =>
      withFailurePage(request, async () => {
        const { answer, returnTo } = await saml.complete(request.query.state, requireBrowser(request));
        return letIn(parts, request, answer, returnTo);
      }),
    ),
    bind(endSsoSession, async (request) => {
      const token = sessionTokenIn(request);
      if (token !== undefined && !isCsrfTokenOf(token, request.body.csrf_token))
        throw new ForbiddenError('The form is not from this session', { code: 'form_forged' });
      const location = token === undefined ? null : await parts.logout.end({ token });
      return redirect(location ?? '/login', { 'set-cookie': clearedSessionCookie(request) });
    }),
    bind(signOutAtProvider, async (request) => {
      const location = await parts.logout.end({ id: request.caller.sessionId! });
      return ok({ logout_url: location }, { 'set-cookie': clearedSessionCookie(request), 'cache-control': 'no-store' });
    }),
  ];
}

async function choose({ database }: SignInParts, slug: string, returnTo: string | undefined): Promise<Reply> {
  const providers = await database.prisma.ssoProvider.findMany({
    where: { isEnabled: true, organization: withLoginSlug(slug) },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    select: { id: true, displayName: true },
  });
  const query = new URLSearchParams({ return_to: checkedReturnTo(returnTo) });
  const links = providers.map(({ id, displayName }) => ({ displayName, href: `/auth/v1/sso/start/${id}?${query}` }));
  const [first] = links;
  if (!first) throw new SignInRefusedError('provider_not_found');
  return links.length === 1 ? redirect(first.href) : providerChoicePage(links);
}

async function begin(
  { database, oidc, saml }: SignInParts,
  request: Pick<HandlerRequest, 'headers'>,
  providerId: string,
  returnTo: string | undefined,
): Promise<Reply> {
  const provider = await database.prisma.ssoProvider.findFirst({
    where: { id: providerId.toLowerCase(), isEnabled: true },
  });
  if (!provider) throw new SignInRefusedError('provider_not_found');
  const browser = browserOf(request);
  const way = provider.protocol === 'oidc' ? oidc : saml;
  const location = await way.begin(provider, browser, checkedReturnTo(returnTo));
  return redirect(location, { 'set-cookie': browserCookie(browser, request) });
}

async function finishOidc(
  parts: SignInParts,
  request: Pick<HandlerRequest, 'headers' | 'raw'>,
  address: string | null,
): Promise<Reply> {
  const query = new URL(request.raw.originalUrl, 'http://localhost').searchParams;
  const { answer, returnTo } = await parts.oidc.end(query, requireBrowser(request), address);
  return letIn(parts, request, answer, returnTo);
}

async function letIn(
  { completion }: SignInParts,
  request: Pick<HandlerRequest, 'headers'>,
  answer: VerifiedAnswer,
  returnTo: string,
): Promise<Reply> {
  const { token, maxAgeSeconds } = await completion.complete(answer, request.headers['user-agent'] ?? null);
  return redirect(returnTo, { 'set-cookie': sessionCookie(token, request, maxAgeSeconds) });
}

function requireBrowser(request: Pick<HandlerRequest, 'headers'>): string {
  const browser = knownBrowserOf(request);
  if (browser === undefined) throw new SignInRefusedError('sign_in_expired');
  return browser;
}

/** Answers a browser with a page, where a program would get an error. */
async function withFailurePage({ log }: Pick<HandlerRequest, 'log'>, work: () => Promise<Reply>): Promise<Reply> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SignInRefusedError)) throw error;
    log.info('sign-in by an identity provider failed', { reason: error.reason, error: error.cause });
    return failurePage(error);
  }
}
