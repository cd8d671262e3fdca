/** Why a sign-in by an identity provider failed, in the words of its page. */
const REFUSALS = {
  provider_not_found: 'This identity provider does not exist or is switched off.',
  sign_in_expired: 'This sign-in has expired, or was begun in another browser. Begin again.',
  provider_unavailable: 'The identity provider does not answer, or its settings here are wrong.',
  answer_invalid: 'The answer of the identity provider is not valid.',
  provider_refused: 'The identity provider refused the sign-in.',
  email_missing: 'The identity provider does not say your email address.',
  email_unverified: 'The identity provider has not verified your email address.',
  identity_disabled: 'Your account in this organization is disabled.',
  other_account: 'Your address belongs to another account of the identity provider.',
  group_required: 'You are in no group that gives access.',
  not_a_member: 'You are not a member of this organization. An administrator can add or invite you.',
} as const;
export type RefusalReason = keyof typeof REFUSALS;

/** A sign-in that ends with a page instead of a session. `cause` is for the log alone. */
export class SignInRefusedError extends Error {
  override readonly name = 'SignInRefusedError';
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, options?: { cause?: unknown }) {
    super(REFUSALS[reason], options);
    this.reason = reason;
  }
}
