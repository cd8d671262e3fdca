import type { OrganizationInfo, OrganizationPlan, Organization as RenderedOrganization } from '@runyard/contracts';
import type { Principal } from '@runyard/service-kit';
import { areInvitesOn, effectiveSwitches } from '../../access/effective-switches.ts';
import type { Organization } from '../../generated/client.ts';
import type { SsoUrls } from '../../sso-urls.ts';
import { maxExpiryDaysOf } from './organization-changes.ts';

/** The installation, as far as answers about organizations tell of it. */
export interface Installation {
  /** `SELF_HOSTED_JIT_PROVISIONING_ENABLED` */
  allowsJit: boolean;
  urls: SsoUrls;
}

export function renderInfo(
  organization: Organization,
  caller: Principal,
  { allowsJit: installationAllowsJit, urls }: Installation,
): OrganizationInfo {
  const { jitProvisioningEnabled, invitesEnabled, isDefault: isDefaultOrganization } = organization;
  const facts = { isDefaultOrganization, jitProvisioningEnabled, invitesEnabled, installationAllowsJit };
  return {
    id: organization.id,
    display_name: organization.displayName,
    config: {},
    is_personal: organization.isPersonal,
    tier: organization.plan as OrganizationPlan,
    reached_max_workspaces: organization.isPersonal,
    permissions: caller.permissions.filter((name) => name.startsWith('organization:')),
    disabled: false,
    member_disabled: false,
    sso_only: organization.ssoOnly,
    jit_provisioning_enabled: jitProvisioningEnabled,
    invites_enabled: invitesEnabled,
    effective: {
      jit_provisioning_enabled: effectiveSwitches(facts).jit,
      invites_enabled: areInvitesOn(organization),
    },
    sso_login_slug: organization.ssoLoginSlug,
    public_sharing_disabled: true,
    pat_creation_disabled: organization.patCreationDisabled,
    workspace_admin_can_invite_to_org: organization.workspaceAdminCanInvite,
    default_sso_provision: organization.isDefault,
    max_api_key_expiry_days: maxExpiryDaysOf(organization),
    max_pat_expiry_days: organization.maxPatExpiryDays,
    max_service_key_expiry_days: organization.maxServiceKeyExpiryDays,
    security_contact: organization.securityContact,
    scim_group_name_separator: organization.scimGroupNameSeparator,
    ip_allowlist: organization.ipAllowlist,
    ip_allowlist_enabled: organization.ipAllowlistEnabled,
    addresses: {
      platform: urls.platform,
      scim: urls.scim,
      saml_consumer: urls.samlConsumer,
      saml_entity_id: urls.samlEntityId,
      sso_login: organization.ssoLoginSlug === null ? null : urls.login(organization.ssoLoginSlug),
    },
  };
}

export function renderOrganization(organization: Organization, options = { withTier: true }): RenderedOrganization {
  return {
    id: organization.id,
    display_name: organization.displayName,
    handle: organization.handle,
    created_at: organization.createdAt.toISOString(),
    is_personal: organization.isPersonal,
    disabled: false,
    tier: options.withTier ? (organization.plan as OrganizationPlan) : null,
    sso_login_slug: organization.ssoLoginSlug,
    sso_only: organization.ssoOnly,
    jit_provisioning_enabled: organization.jitProvisioningEnabled,
    invites_enabled: organization.invitesEnabled,
    default_sso_provision: organization.isDefault,
    public_sharing_disabled: true,
  };
}
