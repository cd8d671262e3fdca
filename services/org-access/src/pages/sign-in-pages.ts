import { type SsoProviderSlim, signInPages } from '@runyard/contracts';
import {
  BadRequestError,
  type BoundOperation,
  type HandlerRequest,
  localPath,
  type Reply,
  redirect,
} from '@runyard/service-kit';
import { identitiesInReach } from '../access/credentials/reach.ts';
import type { Database } from '../database/database.ts';
import type { AccountService } from '../sign-in/accounts/account-service.ts';
import type { AccountSignIn } from '../sign-in/accounts/account-sign-in.ts';
import type { PasskeySignIn } from '../sign-in/accounts/passkey-sign-in.ts';
import type { OpenedSession } from '../sign-in/accounts/sign-in-outcomes.ts';
import { enterOrganization } from '../sign-in/sessions/enter-organization.ts';
import { clearedSessionCookie, sessionCookie } from '../sign-in/sessions/session-cookie.ts';
import type { SsoLookupService } from '../sign-in/sso/lookup-service.ts';
import type { SsoLogout } from '../sign-in/sso/sso-logout.ts';
import { bindPage, orShowAgain } from './bind-page.ts';
import { html } from './html.ts';
import { field, hidden, showPage, submit } from './layout.ts';
import { passkeyCookie, secondFactorCookie } from './page-request.ts';
import type { PageVisitors } from './page-visitors.ts';

export interface PageParts {
  database: Database;
  visitors: PageVisitors;
  signIn: AccountSignIn;
  passkeySignIn: PasskeySignIn;
  accounts: AccountService;
  providers: SsoLookupService;
  logout: SsoLogout;
}

type Request = Pick<HandlerRequest, 'headers'>;

/** Pages on which people sign in, choose their organization, and sign out. */
export function signInPageRoutes(parts: PageParts): BoundOperation[] {
  const { database, visitors, signIn, accounts, providers, logout } = parts;
  const mayUsePasskey = parts.passkeySignIn.isAvailable;
  return [
    bindPage(signInPages.show, async ({ query, headers }) => {
      const returnTo = localPath(query.return_to);
      if (await visitors.find(headers)) return redirect(returnTo ?? HOME);
      return showEmailForm({ email: query.email, returnTo, mayUsePasskey });
    }),
    bindPage(signInPages.begin, async ({ body }) => {
      const returnTo = localPath(body.return_to);
      const email = body.email?.trim() ?? '';
      if (!email.includes('@'))
        return showEmailForm({ email, returnTo, mayUsePasskey, fault: 'Enter your email address.' });
      const found = body.method === 'password' ? [] : await providers.byEmail(email);
      if (found.length > 0) return showProviders({ email, returnTo, providers: found });
      return showPasswordForm({ email, returnTo, canReset: accounts.sendsEmail });
    }),
    bindPage(signInPages.showOrganizationSignIn, async ({ params, query }) => {
      const path = `/auth/v1/sso/login/${encodeURIComponent((params as { sso_login_slug: string }).sso_login_slug)}`;
      return redirect(withReturnTo(path, localPath(query.return_to)));
    }),
    bindPage(signInPages.password, async ({ body, headers }) => {
      const returnTo = localPath(body.return_to);
      const { email = '', password = '' } = body;
      return orShowAgain(
        async () => {
          const opened = await signIn.signIn({ email, password, userAgent: headers['user-agent'] ?? null });
          if (opened.kind === 'signed_in') return letIn(opened, { headers }, returnTo);
          const maxAge = (opened.expiresAt.getTime() - Date.now()) / 1000;
          return redirect(withReturnTo('/auth/second-factor', returnTo), {
            'set-cookie': secondFactorCookie.set(headers, opened.token, maxAge),
          });
        },
        async (fault) => showPasswordForm({ email, returnTo, fault, canReset: accounts.sendsEmail }),
      );
    }),
    bindPage(signInPages.signOut, async ({ body, headers }) =>
      visitors.change(headers, body.csrf, async ({ session }) => {
        const location = await logout.end({ id: session.id });
        const cleared = { 'set-cookie': clearedSessionCookie({ headers }) };
        return location === null ? redirect('/login', cleared) : showSignedOut(location, cleared);
      }),
    ),
    bindPage(signInPages.showOrganizations, async ({ query, headers }) => {
      const visitor = await visitors.require(headers);
      const returnTo = localPath(query.return_to) ?? HOME;
      const organizations = await organizationsOf(database, visitor.session);
      // After a sign-in, which names where to go on, a membership that somebody else gave makes nobody choose.
      const isClear = organizations.filter(({ isAccepted }) => isAccepted).length === 1;
      if (organizations.length < 2 || (isClear && query.return_to !== undefined)) return redirect(returnTo);
      return showPage({
        title: 'Choose an organization',
        body: html`<p>You belong to several organizations. You can change the choice in your account.</p>
<form method="post" action="/auth/organizations">${hidden('csrf', visitor.csrf)}${hidden('return_to', returnTo)}
${organizations.map(
  ({ id, displayName }) => html`<p>${submit(displayName, { isSecond: true, name: 'organization_id', value: id })}</p>`,
)}</form>`,
      });
    }),
    bindPage(signInPages.chooseOrganization, async ({ body, headers }) =>
      visitors.change(headers, body.csrf, async ({ session }) => {
        const organizations = await organizationsOf(database, session);
        const chosen = organizations.find(({ id }) => id === body.organization_id);
        if (!chosen) throw new BadRequestError('You do not belong to this organization');
        if (chosen.id !== session.organizationId) await enterOrganization(database, session, chosen.id);
        return redirect(localPath(body.return_to) ?? HOME);
      }),
    ),
  ];
}

/** The page after a sign-in that led nowhere else. */
export const HOME = '/auth/account';

/** Gives a browser its session, and leads it on by way of the choice of the organization. */
export function letIn(opened: OpenedSession, { headers }: Request, returnTo: string | undefined): Reply {
  return redirect(`/auth/organizations?return_to=${encodeURIComponent(returnTo ?? HOME)}`, {
    'set-cookie': cookiesOf(opened, { headers }),
  });
}

/** Returns the values of `Set-Cookie` that give a browser its session, and end what was begun before. */
export function cookiesOf({ token, expiresAt }: OpenedSession, { headers }: Request): string[] {
  const maxAge = (expiresAt.getTime() - Date.now()) / 1000;
  return [sessionCookie(token, { headers }, maxAge), secondFactorCookie.clear(headers), passkeyCookie.clear(headers)];
}

/** An organization in which a session may act. */
export interface OpenOrganization {
  id: string;
  displayName: string;
  /** False: somebody added the person, who never took the membership up. */
  isAccepted: boolean;
}

/** Returns the organizations in which a session may act: those that the person took up before others, each by their names. */
export async function organizationsOf(
  { prisma }: Database,
  session: { personId: string; ssoOrganizationId: string | null },
): Promise<OpenOrganization[]> {
  const identities = await prisma.identity.findMany({
    where: {
      AND: [identitiesInReach(session), { disabledAt: null }],
      ...(session.ssoOrganizationId === null && { organization: { ssoOnly: false } }),
    },
    select: { isAccepted: true, organization: { select: { id: true, displayName: true } } },
    orderBy: [{ organization: { displayName: 'asc' } }, { organizationId: 'asc' }],
  });
  const open = identities.map(({ isAccepted, organization }) => ({ ...organization, isAccepted: isAccepted ?? false }));
  return [...open.filter(({ isAccepted }) => isAccepted), ...open.filter(({ isAccepted }) => !isAccepted)];
}

/** Browsers let no form of ours lead to another host, so a link does. */
function showSignedOut(logoutUrl: string, headers: Record<string, string>): Reply {
  return showPage(
    {
      title: 'You are signed out',
      body: html`<p>Your identity provider still knows you in this browser.
<a href="${logoutUrl}">Sign out there too</a>, or <a href="/login">sign in again</a>.</p>`,
    },
    { headers },
  );
}

function showEmailForm(form: {
  email: string | undefined;
  returnTo: string | undefined;
  mayUsePasskey: boolean;
  fault?: string;
}): Reply {
  const reply = form.fault === undefined ? {} : { status: 422 };
  return showPage(
    {
      title: 'Sign in',
      fault: form.fault,
      body: html`<form method="post" action="/login">${hidden('return_to', form.returnTo)}
${field({ name: 'email', label: 'Email address', type: 'email', autocomplete: 'username', value: form.email ?? '' })}
${submit('Continue')}</form>${
        form.mayUsePasskey &&
        html`\n<p><a href="${withReturnTo('/auth/passkey', form.returnTo)}">Sign in with a passkey</a></p>`
      }`,
    },
    reply,
  );
}

export function withReturnTo(path: string, returnTo: string | undefined): string {
  return returnTo === undefined ? path : `${path}?return_to=${encodeURIComponent(returnTo)}`;
}

function showProviders(form: { email: string; returnTo: string | undefined; providers: SsoProviderSlim[] }): Reply {
  const { email, returnTo, providers } = form;
  const links = providers.map(({ provider_id: id, organization_display_name: name }) => {
    const target = withReturnTo(`/auth/v1/sso/start/${id}`, returnTo);
    return html`<li><a href="${target}">Continue with single sign-on of ${name}</a></li>`;
  });
  return showPage({
    title: 'Sign in with your organization',
    body: html`<ul>${links}</ul>
<form method="post" action="/login">${hidden('return_to', returnTo)}${hidden('email', email)}
${hidden('method', 'password')}${submit('Use a password instead', { isSecond: true })}</form>`,
  });
}

function showPasswordForm(form: {
  email: string;
  returnTo: string | undefined;
  fault?: string;
  canReset: boolean;
}): Reply {
  const { email, returnTo, fault } = form;
  const forgotten = form.canReset
    ? html`<a href="/auth/reset">Forgot your password?</a>`
    : 'If you forgot your password, ask an administrator for a link.';
  return showPage({
    title: 'Enter your password',
    fault,
    body: html`<form method="post" action="/auth/password">${hidden('return_to', returnTo)}
${field({ name: 'email', label: 'Email address', type: 'email', autocomplete: 'username', value: email })}
${field({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' })}
${submit('Sign in')}</form>
<p>${forgotten}</p>
<p><a href="/login">Use another address</a></p>`,
  });
}
