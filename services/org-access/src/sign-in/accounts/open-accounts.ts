import type { BoundOperation } from '@runyard/service-kit';
import type { EmailOutbox } from '../../directory/email/email-outbox.ts';
import type { Foundation } from '../../foundation.ts';
import type { LiveSessions } from '../sessions/live-sessions.ts';
import { AccountService } from './account-service.ts';
import { AccountSignIn } from './account-sign-in.ts';
import { AccountSweeper } from './account-sweeper.ts';
import { AddressVerification } from './address-verification.ts';
import { AttemptLimit } from './attempt-limit.ts';
import { FirstAdministrator } from './first-administrator.ts';
import { InviteAcceptance } from './invite-acceptance.ts';
import { memberAccountRoutes } from './member-account-routes.ts';
import { MemberAccounts } from './member-accounts.ts';
import { PasskeyProofs } from './passkey-proofs.ts';
import { passkeyRoutes } from './passkey-routes.ts';
import { PasskeyService } from './passkey-service.ts';
import { PasskeySignIn } from './passkey-sign-in.ts';
import { RelyingParty } from './relying-party.ts';
import { SecondFactors } from './second-factors.ts';
import { SignInLinks } from './sign-in-links.ts';
import { SignInOutcomes } from './sign-in-outcomes.ts';
import { SsoEmailVerification } from './sso-email-verification.ts';
import { ssoEmailVerificationRoutes } from './sso-email-verification-routes.ts';

export interface Accounts {
  routes: BoundOperation[];
  limit: AttemptLimit;
  signIn: AccountSignIn;
  passkeySignIn: PasskeySignIn;
  accounts: AccountService;
  passkeys: PasskeyService;
  addresses: AddressVerification;
  invites: InviteAcceptance;
  firstAdministrator: FirstAdministrator;
  signInLinks: SignInLinks;
}

/** Opens accounts with email and password, second factors and passkeys. */
export function openAccounts(
  { config, context, database, cipher, keys }: Foundation,
  sessions: LiveSessions,
  emails: EmailOutbox,
): Accounts {
  const { logger, lifecycle } = context;
  const { prisma } = database;
  const sweeper = new AccountSweeper({ prisma, logger });
  sweeper.start();
  lifecycle.onStop('one-time tokens', () => sweeper.stop());
  const publicUrl = config.PUBLIC_URL;
  const limit = new AttemptLimit({ prisma });
  const factors = new SecondFactors({ cipher });
  const outcomes = new SignInOutcomes({ database, factors, sessionMaxSeconds: config.SESSION_MAX_SECONDS });
  const signIn = new AccountSignIn({ database, limit, factors, logger, outcomes });
  const accounts = new AccountService({ database, limit, factors, emails, sessions, publicUrl });
  const addresses = new AddressVerification({ database, limit, emails, publicUrl });
  const party = new RelyingParty({ publicUrl });
  const proofs = new PasskeyProofs({ database, party });
  const passkeys = new PasskeyService({ database, accounts, factors, party });
  const verification = new SsoEmailVerification({ database, limit, emails, publicUrl });
  const routes = [
    ...passkeyRoutes(passkeys, sessions),
    ...ssoEmailVerificationRoutes(verification, addresses),
    ...memberAccountRoutes(new MemberAccounts({ database, factors, publicUrl }), keys),
  ];
  return {
    routes,
    limit,
    signIn,
    passkeySignIn: new PasskeySignIn({ database, limit, proofs, outcomes, logger }),
    accounts,
    passkeys,
    addresses,
    invites: new InviteAcceptance({ database, signIn }),
    firstAdministrator: new FirstAdministrator({ database, signIn }),
    signInLinks: new SignInLinks({ database, signIn }),
  };
}
