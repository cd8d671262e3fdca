import { accountPages, isUuid } from '@runyard/contracts';
import { BadRequestError, type BoundOperation, type Reply, redirect } from '@runyard/service-kit';
import { audited } from '../audit/audit-trail.ts';
import type { Session } from '../generated/client.ts';
import type { AddressVerification } from '../sign-in/accounts/address-verification.ts';
import { endOwnSession, endOwnSessions } from '../sign-in/sessions/end-own-sessions.ts';
import type { LiveSessions } from '../sign-in/sessions/live-sessions.ts';
import { bindPage, orShowAgain } from './bind-page.ts';
import { type Html, html } from './html.ts';
import { field, hidden, showPage, submit } from './layout.ts';
import { newPasswordField } from './link-pages.ts';
import type { Visitor } from './page-visitors.ts';
import { HOME, organizationsOf, type PageParts } from './sign-in-pages.ts';

export interface AccountPageParts extends PageParts {
  sessions: LiveSessions;
  addresses: AddressVerification;
}

const owner = ({ personId, session }: Visitor) => ({ personId, sessionId: session.id });

/** The page on which people see and change their own account. */
export function accountPageRoutes(parts: AccountPageParts): BoundOperation[] {
  const { visitors, accounts, addresses, database } = parts;
  return [
    bindPage(accountPages.show, async ({ headers }) => showAccount(parts, await visitors.require(headers))),
    bindPage(accountPages.changePassword, async ({ body, headers }) =>
      visitors.changeAccount(headers, body.csrf, (visitor) =>
        orShowAgain(
          async () => {
            const passwords = { current: body.current_password ?? '', next: body.password ?? '' };
            await accounts.changePassword(owner(visitor), passwords);
            return showAccount(parts, visitor, { notice: 'The password is changed. Your other sessions have ended.' });
          },
          (fault) => showAccount(parts, visitor, { fault }),
        ),
      ),
    ),
    bindPage(accountPages.endSession, async ({ body, headers }) =>
      visitors.change(headers, body.csrf, async ({ session }) => {
        const { session_id: id } = body;
        if (id && !isUuid(id)) throw new BadRequestError('There is no such session');
        await database.transact(
          audited(async (transaction, audit) => {
            await (id
              ? endOwnSession(transaction, audit, session, id)
              : endOwnSessions(transaction, audit, session, { keptSessionId: session.id }));
          }),
        );
        return redirect(HOME);
      }),
    ),
    bindPage(accountPages.requestVerification, async ({ body, headers }) =>
      visitors.changeAccount(headers, body.csrf, async (visitor) => {
        await addresses.request(visitor.personId);
        return showAccount(parts, visitor, { notice: 'We have sent a link to your address.' });
      }),
    ),
    bindPage(accountPages.showAuthenticator, async ({ headers }) =>
      showAuthenticator(parts, await visitors.requireAccount(headers)),
    ),
    bindPage(accountPages.beginAuthenticator, async ({ body, headers }) =>
      visitors.changeAccount(headers, body.csrf, (visitor) =>
        orShowAgain(
          async () => {
            await accounts.beginTotp(owner(visitor), body.current_password ?? '');
            return redirect('/auth/account/authenticator');
          },
          (fault) => showAccount(parts, visitor, { fault }),
        ),
      ),
    ),
    bindPage(accountPages.confirmAuthenticator, async ({ body, headers }) =>
      visitors.changeAccount(headers, body.csrf, (visitor) =>
        orShowAgain(
          async () => {
            const codes = await accounts.confirmTotp(owner(visitor), body.code ?? '');
            if (codes) return showRecoveryCodes(codes, 'The app is set up.');
            return showAccount(parts, visitor, { notice: 'The app is set up. Your recovery codes stay as they are.' });
          },
          (fault) => showAuthenticator(parts, visitor, fault),
        ),
      ),
    ),
    bindPage(accountPages.removeAuthenticator, async ({ body, headers }) =>
      visitors.changeAccount(headers, body.csrf, (visitor) =>
        orShowAgain(
          async () => {
            await accounts.removeTotp(owner(visitor), body.current_password ?? '');
            const notice = 'The authenticator app is removed. Your other sessions have ended.';
            return showAccount(parts, visitor, { notice });
          },
          (fault) => showAccount(parts, visitor, { fault }),
        ),
      ),
    ),
  ];
}

async function showAccount(
  parts: AccountPageParts,
  visitor: Visitor,
  { fault, notice }: { fault?: string; notice?: string } = {},
): Promise<Reply> {
  const { database, accounts, sessions } = parts;
  const person = await database.prisma.person.findUniqueOrThrow({
    where: { id: visitor.personId },
    include: { password: true },
  });
  const organizations = await organizationsOf(database, visitor.session);
  const csrf = hidden('csrf', visitor.csrf);
  // An identity provider's session sees the account, and changes nothing of it.
  const isOwnAccount = visitor.session.ssoOrganizationId === null;
  const chosen = organizations.find(({ id }) => id === visitor.session.organizationId) ?? organizations[0];
  return showPage({
    title: person.fullName ?? 'Your account',
    fault,
    body: html`${notice !== undefined && html`<p role="status">${notice}</p>`}
<p>${person.email}${person.emailVerifiedAt ? '' : ' (not confirmed)'}</p>
${
  isOwnAccount &&
  !person.emailVerifiedAt &&
  accounts.sendsEmail &&
  html`<form method="post" action="/auth/account/verification">${csrf}${submit('Send a link to confirm it', { isSecond: true })}</form>`
}
<p>${chosen ? `You act in the organization ${chosen.displayName}.` : 'You belong to no organization yet.'}
${organizations.length > 1 && html`<a href="/auth/organizations">Choose another</a>`}</p>
<form method="post" action="/auth/sign-out">${csrf}${submit('Sign out')}</form>
${isOwnAccount && person.password && passwordSection(csrf)}
${isOwnAccount && person.password && (await authenticatorSection(parts, visitor, csrf))}
<h2>Sessions</h2>
${sessionList(
  (await sessions.listFor(visitor.session)).map(({ session }) => session),
  visitor,
)}`,
  });
}

function passwordSection(csrf: Html | null): Html {
  return html`<h2>Password</h2>
<form method="post" action="/auth/account/password">${csrf}
${field({ name: 'current_password', label: 'Current password', type: 'password', autocomplete: 'current-password' })}
${newPasswordField('New password')}${submit('Change the password')}</form>`;
}

async function authenticatorSection(
  { accounts }: AccountPageParts,
  visitor: Visitor,
  csrf: Html | null,
): Promise<Html> {
  const form = (await accounts.hasAuthenticatorApp(visitor.personId))
    ? html`<p>An authenticator app is set up: sign-in asks for its code.</p>
<form method="post" action="/auth/account/authenticator/remove">${csrf}
<label for="remove-password">Current password, to remove the app</label>
<input id="remove-password" name="current_password" type="password" autocomplete="current-password" required>
${submit('Remove the app', { isSecond: true })}</form>`
    : html`<p>With an authenticator app, your password alone signs nobody in.</p>
<form method="post" action="/auth/account/authenticator">${csrf}
<label for="set-up-password">Current password, to set up the app</label>
<input id="set-up-password" name="current_password" type="password" autocomplete="current-password" required>
${submit('Set up an app')}</form>`;
  return html`<h2>Second factor</h2>${form}<p><a href="/auth/account/passkeys">Passkeys</a></p>`;
}

function sessionList(sessions: Session[], visitor: Visitor): Html {
  const csrf = hidden('csrf', visitor.csrf);
  const rows = sessions.map(({ id, address, userAgent, lastSeenAt }) => {
    const end = html`<form method="post" action="/auth/account/sessions">${csrf}${hidden('session_id', id)}
${submit('End this session', { isSecond: true })}</form>`;
    return html`<li>${userAgent ?? 'Unknown browser'}, ${address ?? 'unknown address'}, last used
<time datetime="${lastSeenAt.toISOString()}">${lastSeenAt.toISOString().slice(0, 16).replace('T', ' ')} UTC</time>
${id === visitor.session.id ? html`<strong>(this one)</strong>` : end}</li>`;
  });
  const others = html`<form method="post" action="/auth/account/sessions">${csrf}${submit('End all other sessions')}</form>`;
  return html`<ul>${rows}</ul>${sessions.length > 1 && others}`;
}

async function showAuthenticator(parts: AccountPageParts, visitor: Visitor, fault?: string): Promise<Reply> {
  const setup = await parts.accounts.findTotpSetup(owner(visitor));
  if (!setup) return fault === undefined ? redirect(HOME) : showAccount(parts, visitor, { fault });
  return showPage({
    title: 'Set up an authenticator app',
    fault,
    body: html`<p>Enter this key in your app, or <a href="${setup.uri}">open it on this device</a>. It is shown until you confirm.</p>
<p><code>${setup.secret.match(/.{1,4}/g)!.join(' ')}</code></p>
<form method="post" action="/auth/account/authenticator/confirm">${hidden('csrf', visitor.csrf)}
${field({ name: 'code', label: 'Code', autocomplete: 'one-time-code', inputMode: 'numeric', hint: 'The six digits that the app shows.' })}
${submit('Confirm')}</form>
<p><a href="${HOME}">Cancel</a></p>`,
  });
}

/** @param done what is set up now, in a sentence */
export function showRecoveryCodes(codes: readonly string[], done: string): Reply {
  return showPage({
    title: 'Keep your recovery codes',
    body: html`<p>${done} If you lose it, each of these codes signs you in once. They are not shown again.</p>
<ul>${codes.map((code) => html`<li><code>${code}</code></li>`)}</ul>
<p><a href="${HOME}">Go to your account</a></p>`,
  });
}
