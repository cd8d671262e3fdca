import type { OrganizationInfo } from '@runyard/contracts';

/** Returns the sentence about people who sign in for the first time, with the reason where the switch has no effect. */
export function provisioningSentence({
  jit_provisioning_enabled: isOn,
  default_sso_provision: isDefault,
  effective,
}: Pick<OrganizationInfo, 'jit_provisioning_enabled' | 'default_sso_provision' | 'effective'>): string {
  if (effective.jit_provisioning_enabled) return 'Who signs in for the first time becomes a member';
  const sentence = 'Who signs in for the first time does not become a member';
  if (!isOn) return sentence;
  return isDefault
    ? `${sentence}: the installation forbids it`
    : `${sentence}: only in the default organization people do`;
}
