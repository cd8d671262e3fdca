import { signInByBasicAuth } from '@runyard/contracts';
import { type BoundOperation, bind, ForbiddenError, ok, UnauthorizedError } from '@runyard/service-kit';
import type { AccountSignIn } from '../sign-in/accounts/account-sign-in.ts';
import type { AccessTokens } from '../sign-in/tokens/access-tokens.ts';

/** Signs programs in with email and password. */
export function basicLoginRoutes({
  signIn,
  tokens,
}: {
  signIn: AccountSignIn;
  tokens: AccessTokens;
}): BoundOperation[] {
  return [
    bind(signInByBasicAuth, async ({ headers }) => {
      const credentials = credentialsIn(headers.authorization);
      const code = [headers['x-second-factor']].flat()[0];
      const opened = await signIn.signIn({ ...credentials, userAgent: headers['user-agent'] ?? null }, code);
      if (opened.kind !== 'signed_in')
        throw new ForbiddenError('The account needs the code of its second factor: send it in X-Second-Factor', {
          code: 'second_factor_required',
        });
      const { id: sessionId, personId, expiresAt } = opened;
      const { token } = await tokens.sign({ sessionId, personId }, expiresAt);
      return ok({ access_token: token }, { 'cache-control': 'no-store' });
    }),
  ];
}

/** Reads email and password of HTTP's basic authentication. @throws UnauthorizedError without them */
function credentialsIn(header: string | undefined): { email: string; password: string } {
  const encoded = /^basic +(\S+)$/i.exec(header ?? '')?.[1];
  const text = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 0 || text.length > 2_048)
    throw new UnauthorizedError('Send email and password by basic authentication', { code: 'sign_in_refused' });
  return { email: text.slice(0, colon), password: text.slice(colon + 1) };
}
