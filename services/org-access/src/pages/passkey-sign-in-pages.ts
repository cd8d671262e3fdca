import { passkeyOperations, passkeyPages } from '@runyard/contracts';
import { type BoundOperation, bind, localPath, type Reply, redirect } from '@runyard/service-kit';
import { bindPage, orShowAgain } from './bind-page.ts';
import { html } from './html.ts';
import { hidden, showPage } from './layout.ts';
import { passkeyCookie } from './page-request.ts';
import { passkeyForm } from './passkey-form.ts';
import { PASSKEY_SCRIPT } from './passkey-script.ts';
import { HOME, letIn, type PageParts, withReturnTo } from './sign-in-pages.ts';

type Headers = Parameters<typeof passkeyCookie.find>[0];

/** The page on which people sign in with a passkey alone, and the script of all pages that ask for one. */
export function passkeySignInRoutes({ visitors, passkeySignIn }: PageParts): BoundOperation[] {
  const show = async (form: { headers: Headers; returnTo: string | undefined; fault?: string }): Promise<Reply> => {
    const { headers, returnTo, fault } = form;
    const question = await passkeySignIn.ask();
    if (!question) return redirect(withReturnTo('/login', returnTo));
    const { options, challenge, expiresAt } = question;
    const maxAge = (expiresAt.getTime() - Date.now()) / 1000;
    const other = html`<a href="${withReturnTo('/login', returnTo)}">Sign in in another way</a>`;
    const content = {
      title: 'Sign in with a passkey',
      fault,
      hasPasskeyScript: true,
      body: html`${passkeyForm({
        ...{ action: '/auth/passkey', kind: 'get', options, label: 'Use a passkey' },
        fields: hidden('return_to', returnTo),
        note: html`This page asks your browser for a passkey, for which it needs JavaScript.`,
      })}
<p>${other}</p>`,
    };
    return showPage(content, { headers: { 'set-cookie': passkeyCookie.set(headers, challenge, maxAge) } });
  };
  return [
    bindPage(passkeyPages.showSignIn, async ({ query, headers }) => {
      const returnTo = localPath(query.return_to);
      if (await visitors.find(headers)) return redirect(returnTo ?? HOME);
      return show({ headers, returnTo });
    }),
    bindPage(passkeyPages.signIn, async ({ body, headers }) => {
      const returnTo = localPath(body.return_to);
      return orShowAgain(
        async () => {
          const userAgent = headers['user-agent'] ?? null;
          const answer = { credential: body.credential ?? '', challenge: passkeyCookie.find(headers), userAgent };
          return letIn(await passkeySignIn.signIn(answer), { headers }, returnTo);
        },
        (fault) => show({ headers, returnTo, fault }),
      );
    }),
    bind(passkeyOperations.getPasskeyScript, async () => ({
      status: 200,
      body: PASSKEY_SCRIPT,
      headers: {
        'content-type': 'text/javascript; charset=utf-8',
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'same-origin',
        'cache-control': 'no-cache',
      },
    })),
  ];
}
