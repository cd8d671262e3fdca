import { conforms, isUuid, type Passkey, PasskeyRegistration, passkeyPages } from '@runyard/contracts';
import { BadRequestError, type BoundOperation, type Reply, redirect } from '@runyard/service-kit';
import type { PasskeyService } from '../sign-in/accounts/passkey-service.ts';
import { showRecoveryCodes } from './account-pages.ts';
import { bindPage, orShowAgain } from './bind-page.ts';
import { type Html, html } from './html.ts';
import { field, hidden, showPage, submit } from './layout.ts';
import type { PageVisitors, Visitor } from './page-visitors.ts';
import { passkeyForm } from './passkey-form.ts';
import { HOME } from './sign-in-pages.ts';

const PAGE = '/auth/account/passkeys';

/** The page on which people add, rename and remove their passkeys. */
export function passkeyAccountRoutes(passkeys: PasskeyService, visitors: PageVisitors): BoundOperation[] {
  const owner = ({ personId, session }: Visitor) => ({ personId, sessionId: session.id });
  const show = async (visitor: Visitor, fault?: string) =>
    showPasskeys(await passkeys.list(visitor.personId), { visitor, fault, mayAdd: passkeys.isAvailable });
  return [
    bindPage(passkeyPages.show, async ({ headers }) => show(await visitors.requireAccount(headers))),
    bindPage(passkeyPages.begin, async ({ body, headers }) =>
      visitors.changeAccount(headers, body.csrf, (visitor) =>
        orShowAgain(
          async () => showAddition(await passkeys.begin(owner(visitor), body.current_password ?? ''), visitor),
          (fault) => show(visitor, fault),
        ),
      ),
    ),
    bindPage(passkeyPages.add, async ({ body, headers }) =>
      visitors.changeAccount(headers, body.csrf, (visitor) =>
        orShowAgain(
          async () => {
            const name = requireName(body.name);
            const added = await passkeys.add(owner(visitor), name, parseRegistration(body.credential ?? ''));
            if (!added.recovery_codes) return redirect(PAGE);
            return showRecoveryCodes(added.recovery_codes, 'The passkey is set up.');
          },
          (fault) => show(visitor, fault),
        ),
      ),
    ),
    bindPage(passkeyPages.rename, async ({ body, headers }) =>
      visitors.changeAccount(headers, body.csrf, (visitor) =>
        orShowAgain(
          async () => {
            const id = requireId(body.passkey_id);
            if (!(await passkeys.rename(owner(visitor), id, requireName(body.name)))) throw noSuchPasskey();
            return redirect(PAGE);
          },
          (fault) => show(visitor, fault),
        ),
      ),
    ),
    bindPage(passkeyPages.remove, async ({ body, headers }) =>
      visitors.changeAccount(headers, body.csrf, (visitor) =>
        orShowAgain(
          async () => {
            const [id, password] = [requireId(body.passkey_id), body.current_password ?? ''];
            if (!(await passkeys.remove(owner(visitor), id, password))) throw noSuchPasskey();
            return redirect(PAGE);
          },
          (fault) => show(visitor, fault),
        ),
      ),
    ),
  ];
}

function showPasskeys(
  passkeys: readonly Passkey[],
  { visitor, fault, mayAdd }: { visitor: Visitor; fault: string | undefined; mayAdd: boolean },
): Reply {
  const csrf = hidden('csrf', visitor.csrf);
  const add = html`<h2>Add a passkey</h2>
<form method="post" action="${PAGE}">${csrf}
${field({ name: 'current_password', label: 'Current password', type: 'password', autocomplete: 'current-password' })}
${submit('Continue')}</form>`;
  return showPage({
    title: 'Passkeys',
    fault,
    body: html`<p>A passkey signs you in without a password, and is a second factor after one.</p>
${passkeys.length > 0 ? passkeys.map((passkey) => passkeySection(passkey, csrf)) : html`<p>You have none.</p>`}
${mayAdd ? add : html`<p>Browsers make no passkeys for the address of this installation.</p>`}
<p><a href="${HOME}">Back to your account</a></p>`,
  });
}

function passkeySection({ id, name, last_used_at: lastUsedAt }: Passkey, csrf: Html | null): Html {
  const own = html`${csrf}${hidden('passkey_id', id)}`;
  const used =
    lastUsedAt === null
      ? 'Never used'
      : html`Last used <time datetime="${lastUsedAt}">${lastUsedAt.slice(0, 16).replace('T', ' ')} UTC</time>`;
  return html`<h2>${name}</h2><p>${used}.</p>
<form method="post" action="${PAGE}/rename">${own}
<label for="name-${id}">New name of ${name}</label><input id="name-${id}" name="name" maxlength="100" autocomplete="off" required>
${submit('Rename', { isSecond: true })}</form>
<form method="post" action="${PAGE}/remove">${own}
<label for="password-${id}">Current password, to remove ${name}</label>
<input id="password-${id}" name="current_password" type="password" autocomplete="current-password" required>
${submit(`Remove ${name}`, { isSecond: true })}</form>`;
}

function showAddition(options: Parameters<typeof passkeyForm>[0]['options'], visitor: Visitor): Reply {
  const hint = 'So that you know it again: the device or the password manager that keeps it.';
  const name = field({ name: 'name', label: 'Name', autocomplete: 'off', hint });
  return showPage({
    title: 'Add a passkey',
    hasPasskeyScript: true,
    body: html`${passkeyForm({
      ...{ action: `${PAGE}/add`, kind: 'create', options, label: 'Make the passkey' },
      fields: html`${hidden('csrf', visitor.csrf)}${name}`,
      note: html`Your browser makes passkeys for pages that may run JavaScript alone.`,
    })}
<p><a href="${PAGE}">Cancel</a></p>`,
  });
}

function requireName(text: string | undefined): string {
  const name = text?.replaceAll(/\p{Cc}/gu, ' ').trim() ?? '';
  if (name === '') throw new BadRequestError('Give the passkey a name.');
  return name;
}

function requireId(text: string | undefined): string {
  if (!isUuid(text)) throw noSuchPasskey();
  return text.toLowerCase();
}

function parseRegistration(text: string): PasskeyRegistration {
  try {
    const value: unknown = JSON.parse(text);
    if (conforms(PasskeyRegistration, value)) return value;
  } catch {}
  throw new BadRequestError('The browser made no passkey: begin again', { code: 'passkey_invalid' });
}

function noSuchPasskey(): BadRequestError {
  return new BadRequestError('There is no such passkey');
}
