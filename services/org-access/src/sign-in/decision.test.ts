import { describe, expect, it } from 'vitest';
import { decideSignIn, type SignInFacts } from './decision.ts';

const facts = (change: Partial<SignInFacts> = {}): SignInFacts => ({
  identity: 'none',
  hasPendingInvite: false,
  isDefaultOrganization: true,
  jitProvisioningEnabled: true,
  invitesEnabled: true,
  installationAllowsJit: true,
  ...change,
});

/** Every combination of the facts. */
function* combinations(): Generator<SignInFacts> {
  const both = [true, false];
  for (const identity of ['none', 'active', 'disabled'] as const)
    for (const hasPendingInvite of both)
      for (const isDefaultOrganization of both)
        for (const jitProvisioningEnabled of both)
          for (const invitesEnabled of both)
            for (const installationAllowsJit of both)
              yield {
                identity,
                hasPendingInvite,
                isDefaultOrganization,
                jitProvisioningEnabled,
                invitesEnabled,
                installationAllowsJit,
              };
}

describe('in the default organization a stranger', () => {
  it.each([
    [true, true, true, 2, 'invite_claimed'],
    [true, true, false, 3, 'provisioned'],
    [true, false, true, 3, 'provisioned'],
    [true, false, false, 3, 'provisioned'],
    [false, true, true, 2, 'invite_claimed'],
    [false, true, false, 4, 'denied'],
    [false, false, true, 4, 'denied'],
    [false, false, false, 4, 'denied'],
  ] as const)(
    'with provisioning %s, invites %s and a pending invite %s is decided by step %i: %s',
    (jitProvisioningEnabled, invitesEnabled, hasPendingInvite, step, outcome) => {
      const decision = decideSignIn(facts({ jitProvisioningEnabled, invitesEnabled, hasPendingInvite }));
      expect(decision).toMatchObject({ step, outcome });
    },
  );

  it('is denied without a group that the provider requires', () => {
    expect(decideSignIn(facts({ isWithoutRequiredGroup: true }))).toMatchObject({ step: 0, reason: 'group_required' });
  });

  it('is denied when SCIM says that the address belongs to another account', () => {
    expect(decideSignIn(facts({ isOtherAccount: true }))).toMatchObject({ step: 0, outcome: 'denied' });
  });

  it('is not provisioned where the installation forbids it, whatever the organization says', () => {
    expect(decideSignIn(facts({ installationAllowsJit: false }))).toMatchObject({ step: 4, outcome: 'denied' });
  });
});

describe('in another organization a stranger', () => {
  it.each([true, false])('with an invite gets in, although the switch for invites is %s', (invitesEnabled) => {
    const there = facts({ isDefaultOrganization: false, invitesEnabled, hasPendingInvite: true });
    expect(decideSignIn(there)).toMatchObject({ step: 2, outcome: 'invite_claimed' });
  });

  it('without an invite is denied, although the switch for provisioning is on', () => {
    expect(decideSignIn(facts({ isDefaultOrganization: false }))).toMatchObject({ step: 4, outcome: 'denied' });
  });
});

describe('of all combinations', () => {
  it('a disabled identity is denied by step 0, before anything else is looked at', () => {
    for (const each of combinations())
      if (each.identity === 'disabled')
        expect(decideSignIn(each)).toEqual({ step: 0, outcome: 'denied', reason: 'identity_disabled' });
  });

  it('an active one is signed in by step 1, whatever the switches say', () => {
    for (const each of combinations())
      if (each.identity === 'active') expect(decideSignIn(each)).toEqual({ step: 1, outcome: 'signed_in' });
  });

  it('nobody is provisioned without three permissions: of the default organization, its switch and the installation', () => {
    for (const each of combinations()) {
      if (decideSignIn(each).outcome !== 'provisioned') continue;
      expect(each).toMatchObject({
        isDefaultOrganization: true,
        jitProvisioningEnabled: true,
        installationAllowsJit: true,
      });
    }
  });

  it('the first administrator whom the installation names is let in, unless disabled or refused before', () => {
    for (const each of combinations()) {
      const named = { ...each, isInitialAdministrator: true };
      const before = decideSignIn(each);
      expect(decideSignIn(named)).toEqual(before.step === 4 ? { step: 3, outcome: 'provisioned' } : before);
    }
    const refused = { isInitialAdministrator: true, isOtherAccount: true };
    expect(decideSignIn(facts(refused))).toMatchObject({ step: 0, outcome: 'denied' });
  });

  it('there are 96, and each has one decision', () => {
    expect([...combinations()].map((each) => decideSignIn(each).step)).toHaveLength(96);
  });
});
