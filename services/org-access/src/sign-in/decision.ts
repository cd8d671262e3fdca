import { type AccessSwitches, effectiveSwitches } from '../access/effective-switches.ts';

/** The facts that are known when a person comes back from an identity provider of an organization. */
export interface SignInFacts extends AccessSwitches {
  /** The person's identity in the organization. */
  identity: 'none' | 'active' | 'disabled';
  /** True when SCIM says that another account of the provider belongs to this address. */
  isOtherAccount?: boolean;
  /** True when the provider requires a group that gives a role, and the person has none. */
  isWithoutRequiredGroup?: boolean;
  /** True when an invite of the organization waits for the person's address. */
  hasPendingInvite: boolean;
  /** True for the person whom the installation names as its first administrator, while there is none. */
  isInitialAdministrator?: boolean;
}

/** The outcome of a sign-in, with the number of the step that decided. */
export type SignInDecision =
  | { step: 0; outcome: 'denied'; reason: 'identity_disabled' | 'other_account' | 'group_required' }
  | { step: 1; outcome: 'signed_in' }
  | { step: 2; outcome: 'invite_claimed' }
  | { step: 3; outcome: 'provisioned' }
  | { step: 4; outcome: 'denied'; reason: 'not_a_member' };

/**
 * Decides whether a person who was authenticated may enter an organization. Both switches of an organization apply to the
 * default one alone: in others invites always work, and nobody is provisioned. The first administrator is provisioned
 * whatever the switches say: nobody else could change them.
 */
export function decideSignIn(facts: SignInFacts): SignInDecision {
  const { invites, jit } = effectiveSwitches(facts);
  if (facts.identity === 'disabled') return { step: 0, outcome: 'denied', reason: 'identity_disabled' };
  if (facts.isOtherAccount) return { step: 0, outcome: 'denied', reason: 'other_account' };
  if (facts.isWithoutRequiredGroup) return { step: 0, outcome: 'denied', reason: 'group_required' };
  if (facts.identity === 'active') return { step: 1, outcome: 'signed_in' };
  if (invites && facts.hasPendingInvite) return { step: 2, outcome: 'invite_claimed' };
  if (jit || facts.isInitialAdministrator) return { step: 3, outcome: 'provisioned' };
  return { step: 4, outcome: 'denied', reason: 'not_a_member' };
}
