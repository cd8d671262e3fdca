import type { BoundOperation } from '@runyard/service-kit';
import { AccountService } from './accounts/account-service.ts';
import { AccountSignIn } from './accounts/account-sign-in.ts';
import { AccountSweeper } from './accounts/account-sweeper.ts';
import { AddressVerification } from './accounts/address-verification.ts';
import { AttemptLimit } from './accounts/attempt-limit.ts';
import { FirstAdministrator } from './accounts/first-administrator.ts';
import { InviteAcceptance } from './accounts/invite-acceptance.ts';
import { memberAccountRoutes } from './accounts/member-account-routes.ts';
import { MemberAccounts } from './accounts/member-accounts.ts';
import { PasskeyProofs } from './accounts/passkey-proofs.ts';
import { passkeyRoutes } from './accounts/passkey-routes.ts';
import { PasskeyService } from './accounts/passkey-service.ts';
import { PasskeySignIn } from './accounts/passkey-sign-in.ts';
import { RelyingParty } from './accounts/relying-party.ts';
import { SecondFactors } from './accounts/second-factors.ts';
import { SignInOutcomes } from './accounts/sign-in-outcomes.ts';
import { SsoEmailVerification } from './accounts/sso-email-verification.ts';
import { ssoEmailVerificationRoutes } from './accounts/sso-email-verification-routes.ts';
import { controlPlaneOf } from './control-plane.ts';
import type { EmailOutbox } from './email/email-outbox.ts';
import type { Foundation } from './foundation.ts';
import { OAuthClients } from './oauth/clients.ts';
import { McpServers } from './oauth/mcp-servers.ts';
import { oauthRoutes } from './oauth/oauth-routes.ts';
import { OAuthService } from './oauth/oauth-service.ts';
import { RefreshTokens } from './oauth/refresh-tokens.ts';
import type { Credentials } from './open-credentials.ts';
import { accountPageRoutes } from './pages/account-pages.ts';
import { authorizationPageRoutes } from './pages/authorization-pages.ts';
import { basicLoginRoutes } from './pages/basic-login.ts';
import { devicePageRoutes } from './pages/device-pages.ts';
import { linkPageRoutes } from './pages/link-pages.ts';
import { PageVisitors } from './pages/page-visitors.ts';
import { passkeyAccountRoutes } from './pages/passkey-account-pages.ts';
import { passkeySignInRoutes } from './pages/passkey-sign-in-pages.ts';
import { secondFactorRoutes } from './pages/second-factor-pages.ts';
import { signInPageRoutes } from './pages/sign-in-pages.ts';
import { SsoLookupService } from './sso/lookup-service.ts';
import type { SsoLogout } from './sso/sso-logout.ts';

/** Opens accounts with email and password, and the pages on which people sign in. */
export function openAccounts(
  { config, context, database, cipher, keys }: Foundation,
  { sessions, lastSeen, accessTokens }: Credentials,
  emails: EmailOutbox,
  logout: SsoLogout,
): { routes: BoundOperation[]; firstAdministrator: FirstAdministrator } {
  const { logger, lifecycle } = context;
  const { prisma } = database;
  const sweeper = new AccountSweeper({ prisma, logger });
  sweeper.start();
  lifecycle.onStop('one-time tokens', () => sweeper.stop());
  const limit = new AttemptLimit({ prisma });
  const factors = new SecondFactors({ cipher });
  const sessionMaxSeconds = config.SESSION_MAX_SECONDS;
  const outcomes = new SignInOutcomes({ database, factors, sessionMaxSeconds });
  const signIn = new AccountSignIn({ database, limit, factors, logger, outcomes });
  const accounts = new AccountService({ database, limit, factors, emails, sessions, publicUrl: config.PUBLIC_URL });
  const addresses = new AddressVerification({ database, limit, emails, publicUrl: config.PUBLIC_URL });
  const party = new RelyingParty({ publicUrl: config.PUBLIC_URL });
  const proofs = new PasskeyProofs({ database, party });
  const passkeySignIn = new PasskeySignIn({ database, limit, proofs, outcomes, logger });
  const passkeys = new PasskeyService({ database, accounts, factors, party });
  const verification = new SsoEmailVerification({ database, limit, emails, publicUrl: config.PUBLIC_URL });
  const firstAdministrator = new FirstAdministrator({ database, signIn });
  const invites = new InviteAcceptance({ database, signIn });
  const visitors = new PageVisitors({ sessions, lastSeen });
  const pages = {
    database,
    visitors,
    signIn,
    passkeySignIn,
    accounts,
    logout,
    providers: new SsoLookupService({ database }),
  };
  const clients = new OAuthClients({ cipher });
  const servers = new McpServers({ prisma, controlPlane: controlPlaneOf(config) });
  const oauth = new OAuthService({
    ...{ database, sessions, lastSeen, accessTokens, clients, limit },
    refreshTokens: new RefreshTokens({ cipher }),
    publicUrl: config.PUBLIC_URL,
    sessionSeconds: config.PROGRAM_SESSION_SECONDS,
    ssoSessionSeconds: Math.min(config.OAUTH_SESSION_MAX_SEC, config.PROGRAM_SESSION_SECONDS),
  });
  const routes = [
    ...signInPageRoutes(pages),
    ...secondFactorRoutes(pages),
    ...passkeySignInRoutes(pages),
    ...linkPageRoutes({ ...pages, addresses, firstAdministrator, invites }),
    ...accountPageRoutes({ ...pages, addresses, sessions }),
    ...passkeyAccountRoutes(passkeys, visitors),
    ...passkeyRoutes(passkeys, sessions),
    ...ssoEmailVerificationRoutes(verification, addresses),
    ...memberAccountRoutes(new MemberAccounts({ database, factors, publicUrl: config.PUBLIC_URL }), keys),
    ...basicLoginRoutes({ signIn, tokens: accessTokens }),
    ...devicePageRoutes({ database, visitors, limit }),
    ...authorizationPageRoutes({ database, visitors, clients, servers, issuer: oauth.issuer }),
    ...oauthRoutes(oauth),
  ];
  return { routes, firstAdministrator };
}
