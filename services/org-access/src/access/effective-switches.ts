/** The switches of an organization that decide who gets in, and what they depend on. */
export interface AccessSwitches {
  /** True for the organization into which single sign-on provisions people (`default_sso_provision`). */
  isDefaultOrganization: boolean;
  jitProvisioningEnabled: boolean;
  invitesEnabled: boolean;
  /** False: `SELF_HOSTED_JIT_PROVISIONING_ENABLED` forbids it for every organization. */
  installationAllowsJit: boolean;
}

/**
 * Returns the switches as they work, which the settings alone do not say: both apply to the default organization alone.
 * In others invites always work, and nobody is provisioned.
 */
export function effectiveSwitches(facts: AccessSwitches): { invites: boolean; jit: boolean } {
  if (!facts.isDefaultOrganization) return { invites: true, jit: false };
  return { invites: facts.invitesEnabled, jit: facts.jitProvisioningEnabled && facts.installationAllowsJit };
}

/** Returns whether invites of an organization work: may be made, seen by whom they are for, and claimed. */
export function areInvitesOn(organization: {
  isDefault: boolean;
  isPersonal: boolean;
  invitesEnabled: boolean;
}): boolean {
  return !organization.isPersonal && (!organization.isDefault || organization.invitesEnabled);
}
