import { linkPages } from '@runyard/contracts';
import { BadRequestError, type BoundOperation, localPath, type Reply, redirect } from '@runyard/service-kit';
import { PASSWORD_LENGTH_MIN } from '../directory/people/password-rules.ts';
import type { AddressVerification } from '../sign-in/accounts/address-verification.ts';
import type { FirstAdministrator } from '../sign-in/accounts/first-administrator.ts';
import type { InviteAcceptance, ShownInvite } from '../sign-in/accounts/invite-acceptance.ts';
import type { SignInLinks } from '../sign-in/accounts/sign-in-links.ts';
import { enterOrganization } from '../sign-in/sessions/enter-organization.ts';
import { bindPage, orShowAgain } from './bind-page.ts';
import { type Html, html } from './html.ts';
import { field, hidden, showPage, submit, withoutReferrer } from './layout.ts';
import { requireFollowed } from './page-request.ts';
import type { Visitor } from './page-visitors.ts';
import { cookiesOf, HOME, letIn, type PageParts } from './sign-in-pages.ts';

export interface LinkPageParts extends PageParts {
  addresses: AddressVerification;
  firstAdministrator: FirstAdministrator;
  invites: InviteAcceptance;
  signInLinks: SignInLinks;
  /** The origin of the console; undefined where there is none. */
  consoleUrl: string | undefined;
}

/** Pages to which links lead: of the first administrator, of invites, of emails about an account, and of the operator. */
export function linkPageRoutes(parts: LinkPageParts): BoundOperation[] {
  return [
    ...setupRoutes(parts),
    ...inviteRoutes(parts),
    ...passwordRoutes(parts),
    ...verificationRoutes(parts),
    ...signInLinkRoutes(parts),
  ];
}

function setupRoutes({ firstAdministrator }: LinkPageParts): BoundOperation[] {
  const show = async (form: { token: string; email?: string; fullName?: string; fault?: string }) => {
    const organization = await firstAdministrator.findOrganization(form.token);
    if (organization === null) throw linkExpired();
    return showPage({
      title: 'Set up the first administrator',
      fault: form.fault,
      body: html`<p>You will administer the organization ${organization}. The link works once.</p>
<form method="post" action="/auth/setup">${hidden('token', form.token)}
${field({ name: 'full_name', label: 'Name', autocomplete: 'name', value: form.fullName ?? '' })}
${field({ name: 'email', label: 'Email address', type: 'email', autocomplete: 'username', value: form.email ?? '' })}
${newPasswordField()}${submit('Create the account')}</form>`,
    });
  };
  return [
    bindPage(linkPages.showSetup, async ({ query }) => show({ token: query.token ?? '' })),
    bindPage(linkPages.setUp, async ({ body, headers }) => {
      const { token = '', email = '', password = '' } = body;
      const fullName = body.full_name?.trim() ?? '';
      return orShowAgain(
        async () => {
          requireText(fullName, 'Enter your name.');
          requireEmail(email);
          const userAgent = headers['user-agent'] ?? null;
          return letIn(
            await firstAdministrator.claim({ token, email, fullName, password, userAgent }),
            { headers },
            undefined,
          );
        },
        (fault) => show({ token, email, fullName, fault }),
      );
    }),
  ];
}

function inviteRoutes({ invites, visitors, database }: LinkPageParts): BoundOperation[] {
  const show = async (form: { token: string; visitor: Visitor | null; fullName?: string; fault?: string }) => {
    const invite = await invites.find(form.token);
    if (!invite) throw linkExpired();
    const { visitor, token } = form;
    const person = visitor && (await database.prisma.person.findUnique({ where: { id: visitor.personId } }));
    const decline = html`<form method="post" action="/login/invite">${hidden('token', token)}
${hidden('answer', 'decline')}${submit('Decline', { isSecond: true })}</form>`;
    return showPage({
      title: `Join ${invite.organization}`,
      fault: form.fault,
      body: html`<p>${invite.inviter ?? 'An administrator'} invites ${invite.email} to the organization ${invite.organization}.</p>
${acceptForm(invite, { ...form, signedInAs: person?.email })}
${decline}`,
    });
  };
  return [
    bindPage(linkPages.showInvite, async ({ query, headers }) =>
      show({ token: query.token ?? '', visitor: await visitors.find(headers) }),
    ),
    bindPage(linkPages.answerInvite, async ({ body, headers }) => {
      const { token = '', password = '' } = body;
      const fullName = body.full_name?.trim() ?? '';
      const visitor = await visitors.find(headers);
      return orShowAgain(
        async () => {
          if (body.answer === 'decline') {
            await invites.decline(token);
            return showPage({ title: 'Invite declined', body: html`<p>You can close this page.</p>` });
          }
          if (visitor)
            return visitors.change(headers, body.csrf, async ({ session }) => {
              const organizationId = await invites.accept(token, session);
              await enterOrganization(database, session, organizationId);
              return redirect(HOME);
            });
          requireText(fullName, 'Enter your name.');
          const userAgent = headers['user-agent'] ?? null;
          return letIn(await invites.acceptAsNew({ token, fullName, password, userAgent }), { headers }, undefined);
        },
        (fault) => show({ token, visitor, fullName, fault }),
      );
    }),
  ];
}

function acceptForm(
  invite: ShownInvite,
  form: { token: string; visitor: Visitor | null; fullName?: string; signedInAs?: string | undefined },
): Html {
  const { token, visitor, signedInAs } = form;
  const accept = hidden('answer', 'accept');
  if (visitor && signedInAs === invite.email)
    return html`<form method="post" action="/login/invite">${hidden('token', token)}${accept}
${hidden('csrf', visitor.csrf)}${submit('Accept')}</form>`;
  if (visitor)
    return html`<p>You are signed in as ${signedInAs}. Sign out to accept the invite as ${invite.email}.</p>
<form method="post" action="/auth/sign-out">${hidden('csrf', visitor.csrf)}${submit('Sign out')}</form>`;
  if (!invite.isAccountNew) {
    const back = encodeURIComponent(`/login/invite?token=${encodeURIComponent(token)}`);
    const target = `/login?email=${encodeURIComponent(invite.email)}&return_to=${back}`;
    return html`<p>There is an account with this address. <a href="${target}">Sign in to accept</a></p>`;
  }
  const name = form.fullName ?? invite.fullName ?? '';
  return html`<form method="post" action="/login/invite">${hidden('token', token)}${accept}
${hidden('email', invite.email)}
${field({ name: 'full_name', label: 'Name', autocomplete: 'name', value: name })}
${newPasswordField()}${submit('Create an account and accept')}</form>`;
}

function passwordRoutes({ accounts }: LinkPageParts): BoundOperation[] {
  const show = async (form: { token: string; fault?: string }): Promise<Reply> => {
    const email = await accounts.findReset(form.token);
    if (email === null) throw linkExpired();
    return showPage({
      title: 'Set a new password',
      fault: form.fault,
      body: html`<p>For the account ${email}. All its sessions end.</p>
<form method="post" action="/auth/new-password">${hidden('token', form.token)}
${newPasswordField()}${submit('Set the password')}</form>`,
    });
  };
  const showRequest = (fault?: string) =>
    showPage(
      {
        title: 'Forgotten password',
        fault,
        body: accounts.sendsEmail
          ? html`<form method="post" action="/auth/reset">
${field({ name: 'email', label: 'Email address', type: 'email', autocomplete: 'username' })}
${submit('Send a link')}</form>`
          : html`<p>This installation sends no emails. Ask an administrator of your organization for a link.</p>`,
      },
      fault === undefined ? {} : { status: 422 },
    );
  return [
    bindPage(linkPages.showReset, async () => showRequest()),
    bindPage(linkPages.requestReset, async ({ body }) => {
      const email = body.email?.trim() ?? '';
      if (!email.includes('@')) return showRequest('Enter your email address.');
      await accounts.requestReset(email);
      const text =
        'If there is somebody with this address who signs in with a password, we have sent a link that works for an hour.';
      return showPage({ title: 'Look at your mail', body: html`<p>${text}</p>` });
    }),
    bindPage(linkPages.showNewPassword, async ({ query }) => show({ token: query.token ?? '' })),
    bindPage(linkPages.setNewPassword, async ({ body }) => {
      const { token = '', password = '' } = body;
      return orShowAgain(
        async () => {
          await accounts.reset(token, password);
          const next = html`<p><a href="/login">Sign in with the new password</a></p>`;
          return showPage({ title: 'Your password is set', body: next });
        },
        (fault) => show({ token, fault }),
      );
    }),
  ];
}

function verificationRoutes({ addresses }: LinkPageParts): BoundOperation[] {
  // Programs that look for harm open links of emails: only a button confirms.
  const show = async (form: { token: string; fault?: string }): Promise<Reply> => {
    const found = await addresses.find(form.token);
    if (!found) throw linkExpired();
    const takeover = html`<p>Choose the password with which you sign in from now on. Whoever made the account for
${found.email} may know the present one: it ends, with passkeys, second factors and all sessions.</p>`;
    return showPage({
      title: 'Confirm your address',
      fault: form.fault,
      body: html`${found.needsPassword && takeover}<form method="post" action="/auth/verify">${hidden('token', form.token)}
${found.needsPassword && newPasswordField()}${submit('Confirm')}</form>`,
    });
  };
  return [
    bindPage(linkPages.showVerification, async ({ query }) => show({ token: query.token ?? '' })),
    bindPage(linkPages.verify, async ({ body }) => {
      const { token = '', password = '' } = body;
      return orShowAgain(
        async () => {
          const found = await addresses.find(token);
          await addresses.verify(token, found?.needsPassword ? password : undefined);
          return showPage({
            title: 'Your address is confirmed',
            body: html`<p><a href="${HOME}">Go to your account</a></p>`,
          });
        },
        (fault) => show({ token, fault }),
      );
    }),
  ];
}

/** The link itself signs in: the organization of its session is known, so nobody has to choose one on the way. */
function signInLinkRoutes({ signInLinks, consoleUrl }: LinkPageParts): BoundOperation[] {
  const follow = bindPage(linkPages.followSignInLink, async ({ query, headers, raw }) => {
    requireFollowed(raw);
    const userAgent = headers['user-agent'] ?? null;
    const opened = await signInLinks.follow({ token: query.token ?? '', userAgent });
    const next = localPath(query.return_to) ?? (consoleUrl === undefined ? HOME : `${consoleUrl}/`);
    return redirect(next, { 'set-cookie': cookiesOf(opened, { headers }) });
  });
  return [withoutReferrer(follow)];
}

/** The field of a new password, with its rules. */
export function newPasswordField(label = 'Password'): Html {
  const hint = `At least ${PASSWORD_LENGTH_MIN} characters; a few words that nobody would guess are best.`;
  return field({ name: 'password', label, type: 'password', autocomplete: 'new-password', hint });
}

function requireText(text: string, fault: string): void {
  if (text === '') throw new BadRequestError(fault);
}

function requireEmail(email: string): void {
  if (!/^[^\s@]+@[^\s@]+$/.test(email.trim())) throw new BadRequestError('Enter an email address.');
}

function linkExpired(): BadRequestError {
  return new BadRequestError('This link has been used or withdrawn, or has expired', { code: 'link_expired' });
}
