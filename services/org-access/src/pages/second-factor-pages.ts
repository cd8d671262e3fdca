import { signInPages } from '@runyard/contracts';
import { type BoundOperation, localPath, type Reply, redirect } from '@runyard/service-kit';
import { bindPage, orShowAgain } from './bind-page.ts';
import { html } from './html.ts';
import { field, hidden, showPage, submit } from './layout.ts';
import { passkeyCookie, secondFactorCookie } from './page-request.ts';
import { passkeyForm } from './passkey-form.ts';
import { letIn, type PageParts } from './sign-in-pages.ts';

const ACTION = '/auth/second-factor';

type Headers = Parameters<typeof passkeyCookie.find>[0];

/** The page on which people prove their second factor after the password: by a code, or by a passkey. */
export function secondFactorRoutes({ signIn, passkeySignIn }: PageParts): BoundOperation[] {
  const show = async (form: { headers: Headers; returnTo: string | undefined; fault?: string }): Promise<Reply> => {
    const { headers, returnTo, fault } = form;
    const question = await passkeySignIn.askAgain(secondFactorCookie.find(headers) ?? '');
    const hint = 'The six digits that your authenticator app shows now, or one of your recovery codes.';
    const code = html`<form method="post" action="${ACTION}">${hidden('return_to', returnTo)}
${field({ name: 'code', label: 'Code', autocomplete: 'one-time-code', hint })}
${submit('Sign in')}</form>
<p><a href="/login">Begin again</a></p>`;
    if (!question) return showPage({ title: 'Enter your code', fault, body: code });
    const { options, challenge, expiresAt } = question;
    const passkey = passkeyForm({
      ...{ action: ACTION, kind: 'get', options, label: 'Use a passkey', note: null },
      fields: hidden('return_to', returnTo),
    });
    const maxAge = (expiresAt.getTime() - Date.now()) / 1000;
    return showPage(
      { title: 'Prove that it is you', fault, hasPasskeyScript: true, body: html`${passkey}${code}` },
      { headers: { 'set-cookie': passkeyCookie.set(headers, challenge, maxAge) } },
    );
  };
  return [
    bindPage(signInPages.showSecondFactor, async ({ query, headers }) =>
      secondFactorCookie.find(headers) === undefined
        ? redirect('/login')
        : show({ headers, returnTo: localPath(query.return_to) }),
    ),
    bindPage(signInPages.secondFactor, async ({ body, headers }) => {
      const returnTo = localPath(body.return_to);
      const token = secondFactorCookie.find(headers) ?? '';
      const userAgent = headers['user-agent'] ?? null;
      return orShowAgain(
        async () => {
          const answer = { credential: body.credential ?? '', challenge: passkeyCookie.find(headers), userAgent };
          const opened = body.credential
            ? await passkeySignIn.confirm(token, answer)
            : await signIn.confirmSecondFactor({ token, code: body.code ?? '', userAgent });
          return letIn(opened, { headers }, returnTo);
        },
        (fault) => show({ headers, returnTo, fault }),
      );
    }),
  ];
}
