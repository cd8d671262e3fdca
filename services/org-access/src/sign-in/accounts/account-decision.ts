/** The facts that are known when somebody sent an email address and a password, or a passkey. */
export interface AccountFacts {
  /** True when the account exists, and this is its password or a passkey of it. */
  isFirstFactorRight: boolean;
  /** The identities as which the account acts, in all organizations: one without any may still take up an invite. */
  identities: 'none' | 'some active' | 'all disabled';
  hasSecondFactor: boolean;
  /** True when the second factor was proven too. A passkey that checks its person is both. */
  isSecondFactorProven: boolean;
}

/** The outcome of a sign-in with email and password, with the number of the step that decided. */
export type AccountDecision =
  | { step: 1; outcome: 'denied'; reason: 'credentials_wrong' }
  | { step: 2; outcome: 'denied'; reason: 'identity_disabled' }
  | { step: 3; outcome: 'second_factor_required' }
  | { step: 4; outcome: 'signed_in' };

/** Decides about a sign-in. Nothing about an account shows before its password or passkey is right. */
export function decideAccountSignIn(facts: AccountFacts): AccountDecision {
  if (!facts.isFirstFactorRight) return { step: 1, outcome: 'denied', reason: 'credentials_wrong' };
  if (facts.identities === 'all disabled') return { step: 2, outcome: 'denied', reason: 'identity_disabled' };
  if (facts.hasSecondFactor && !facts.isSecondFactorProven) return { step: 3, outcome: 'second_factor_required' };
  return { step: 4, outcome: 'signed_in' };
}
