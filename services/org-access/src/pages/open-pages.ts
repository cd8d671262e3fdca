import type { BoundOperation } from '@runyard/service-kit';
import type { Foundation } from '../foundation.ts';
import type { Programs } from '../programs/open-programs.ts';
import type { Accounts } from '../sign-in/accounts/open-accounts.ts';
import type { ConsoleSessions } from '../sign-in/console/console-sessions.ts';
import { SsoLookupService } from '../sign-in/sso/lookup-service.ts';
import type { SsoLogout } from '../sign-in/sso/sso-logout.ts';
import type { Credentials } from '../sign-in/tokens/open-credentials.ts';
import { accountPageRoutes } from './account-pages.ts';
import { authorizationPageRoutes } from './authorization-pages.ts';
import { basicLoginRoutes } from './basic-login.ts';
import { consolePageRoutes } from './console-pages.ts';
import { devicePageRoutes } from './device-pages.ts';
import { allowFormsToLeadTo } from './layout.ts';
import { linkPageRoutes } from './link-pages.ts';
import { PageVisitors } from './page-visitors.ts';
import { passkeyAccountRoutes } from './passkey-account-pages.ts';
import { passkeySignInRoutes } from './passkey-sign-in-pages.ts';
import { secondFactorRoutes } from './second-factor-pages.ts';
import { signInPageRoutes } from './sign-in-pages.ts';

/** Opens the pages on which people sign in, keep their accounts, and allow programs to act for them. */
export function openPages(
  { config, database }: Foundation,
  { sessions, lastSeen, accessTokens }: Credentials,
  { limit, signIn, passkeySignIn, accounts, passkeys, addresses, invites, firstAdministrator, signInLinks }: Accounts,
  { clients, servers, issuer }: Programs,
  logout: SsoLogout,
  consoleSessions: ConsoleSessions,
): BoundOperation[] {
  const visitors = new PageVisitors({ sessions, lastSeen });
  const providers = new SsoLookupService({ database });
  const pages = { database, visitors, signIn, passkeySignIn, accounts, logout, providers };
  const consoleUrl = config.CONSOLE_URL && new URL(config.CONSOLE_URL).origin;
  const routes = [
    ...signInPageRoutes(pages),
    ...secondFactorRoutes(pages),
    ...passkeySignInRoutes(pages),
    ...linkPageRoutes({ ...pages, addresses, firstAdministrator, invites, signInLinks, consoleUrl }),
    ...accountPageRoutes({ ...pages, addresses, sessions }),
    ...passkeyAccountRoutes(passkeys, visitors),
    ...basicLoginRoutes({ signIn, tokens: accessTokens }),
    ...devicePageRoutes({ database, visitors, limit }),
    ...authorizationPageRoutes({ database, visitors, clients, servers, issuer }),
    ...consolePageRoutes({ visitors, consoleSessions, consoleUrl }),
  ];
  return consoleUrl === undefined ? routes : routes.map((route) => allowFormsToLeadTo(consoleUrl, route));
}
