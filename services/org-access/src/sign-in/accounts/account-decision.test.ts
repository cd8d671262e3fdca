import { expect, it } from 'vitest';
import { type AccountFacts, decideAccountSignIn } from './account-decision.ts';

const both = [true, false];
const ALL: AccountFacts[] = both.flatMap((isFirstFactorRight) =>
  (['none', 'some active', 'all disabled'] as const).flatMap((identities) =>
    both.flatMap((hasSecondFactor) =>
      both.map((isSecondFactorProven) => ({ isFirstFactorRight, identities, hasSecondFactor, isSecondFactorProven })),
    ),
  ),
);

it('of all 24 combinations a session opens only with the password, an identity that works, and the second factor', () => {
  expect(ALL).toHaveLength(24);
  for (const facts of ALL) {
    const isLetIn =
      facts.isFirstFactorRight &&
      facts.identities !== 'all disabled' &&
      (!facts.hasSecondFactor || facts.isSecondFactorProven);
    expect(decideAccountSignIn(facts).outcome === 'signed_in').toBe(isLetIn);
  }
});

it('a wrong password is all that is said, whatever else is true of the account', () => {
  for (const facts of ALL.filter(({ isFirstFactorRight }) => !isFirstFactorRight))
    expect(decideAccountSignIn(facts)).toEqual({ step: 1, outcome: 'denied', reason: 'credentials_wrong' });
});
