import type { OrganizationUpdate } from '@runyard/contracts';
import { InvalidFieldError } from '@runyard/service-kit';
import type { Organization, Prisma } from '../../generated/client.ts';
import { letsIn, requireNetworks } from './ip-allowlist.ts';

/**
 * Returns the columns that a change sets.
 *
 * @param callerAddress the address of who changes it, which must stay allowed
 * @throws InvalidFieldError for values that cannot be
 */
export function columnsOf(
  change: OrganizationUpdate,
  before: Organization,
  callerAddress: string | null,
): Prisma.OrganizationUpdateInput {
  requireNoSharing(change);
  const everyKey = change.max_api_key_expiry_days;
  return {
    displayName: change.display_name ?? undefined,
    jitProvisioningEnabled: change.jit_provisioning_enabled ?? undefined,
    invitesEnabled: change.invites_enabled ?? undefined,
    patCreationDisabled: change.pat_creation_disabled ?? undefined,
    workspaceAdminCanInvite: change.workspace_admin_can_invite_to_org ?? undefined,
    maxPatExpiryDays: limitOf(change.max_pat_expiry_days ?? everyKey),
    maxServiceKeyExpiryDays: limitOf(change.max_service_key_expiry_days ?? everyKey),
    securityContact: change.security_contact == null ? undefined : change.security_contact.trim() || null,
    scimGroupNameSeparator: change.scim_group_name_separator ?? undefined,
    ssoLoginSlug: change.sso_login_slug ?? undefined,
    ...allowlistOf(change, before, callerAddress),
  };
}

/** Returns the days after which every key of the organization has expired; null when a kind has no limit. */
export function maxExpiryDaysOf({ maxPatExpiryDays, maxServiceKeyExpiryDays }: Organization): number | null {
  if (maxPatExpiryDays === null || maxServiceKeyExpiryDays === null) return null;
  return Math.max(maxPatExpiryDays, maxServiceKeyExpiryDays);
}

function requireNoSharing({ public_sharing_disabled, unshare_all }: OrganizationUpdate): void {
  if (public_sharing_disabled === false)
    throw new InvalidFieldError(['body', 'public_sharing_disabled'], 'Nothing can be shared publicly here.');
  if (unshare_all === false) throw new InvalidFieldError(['body', 'unshare_all'], 'Nothing is shared publicly here.');
}

function limitOf(days: number | null | undefined): number | null | undefined {
  return days === 0 ? null : (days ?? undefined);
}

function allowlistOf(
  change: OrganizationUpdate,
  before: Organization,
  callerAddress: string | null,
): Pick<Prisma.OrganizationUpdateInput, 'ipAllowlist' | 'ipAllowlistEnabled'> {
  const { ip_allowlist: list, ip_allowlist_enabled: enabled } = change;
  if (list == null && enabled == null) return {};
  if (list) requireNetworks(list);
  const ipAllowlist = list ?? before.ipAllowlist;
  const ipAllowlistEnabled = enabled ?? ipAllowlist.length > 0;
  if (ipAllowlistEnabled && !letsIn(ipAllowlist, callerAddress))
    throw new InvalidFieldError(
      ['body', list ? 'ip_allowlist' : 'ip_allowlist_enabled'],
      `The list would lock you out: it does not have your address ${callerAddress ?? ''}.`,
    );
  return { ipAllowlist, ipAllowlistEnabled };
}
