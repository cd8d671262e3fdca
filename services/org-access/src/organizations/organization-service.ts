import type { OrganizationInfo, OrganizationUpdate } from '@runyard/contracts';
import type { Principal } from '@runyard/service-kit';
import { audited } from '../audit/audit-trail.ts';
import { changedFields } from '../audit/changed-fields.ts';
import type { Database } from '../database/database.ts';
import { organizationEvents } from '../events/organization-events.ts';
import type { Organization } from '../generated/client.ts';

/** Reads and changes the caller's own organization and its settings. */
export class OrganizationService {
  readonly #database: Database;

  constructor(options: { database: Database }) {
    this.#database = options.database;
  }

  async info(caller: Principal): Promise<OrganizationInfo> {
    return render(
      await this.#database.prisma.organization.findUniqueOrThrow({ where: { id: caller.organizationId } }),
      caller,
    );
  }

  async update(caller: Principal, change: OrganizationUpdate): Promise<OrganizationInfo> {
    const { organizationId } = caller;
    return this.#database.transact(
      audited(async (transaction, audit) => {
        const before = await transaction.organization.findUniqueOrThrow({ where: { id: organizationId } });
        const updated = await transaction.organization.update({
          where: { id: organizationId },
          data: {
            displayName: change.display_name ?? undefined,
            jitProvisioningEnabled: change.jit_provisioning_enabled ?? undefined,
            invitesEnabled: change.invites_enabled ?? undefined,
            patCreationDisabled: change.pat_creation_disabled ?? undefined,
          },
        });
        await organizationEvents.settingsChanged(transaction, { organizationId });
        const changed = changedFields(settingsOf(before), settingsOf(updated));
        if (changed) {
          audit.record(organizationId, {
            action: 'organization.updated',
            resourceType: 'organization',
            resourceId: organizationId,
            ...changed,
          });
        }
        return render(updated, caller);
      }),
    );
  }
}

/** Returns the settings as an audit event has them. */
function settingsOf({ id: _id, createdAt: _createdAt, updatedAt: _updatedAt, ...settings }: Organization): object {
  return settings;
}

function render(organization: Organization, caller: Principal): OrganizationInfo {
  return {
    id: organization.id,
    display_name: organization.displayName,
    is_personal: organization.isPersonal,
    jit_provisioning_enabled: organization.jitProvisioningEnabled,
    invites_enabled: organization.invitesEnabled,
    sso_login_slug: organization.ssoLoginSlug,
    pat_creation_disabled: organization.patCreationDisabled,
    default_sso_provision: organization.isDefault,
    permissions: caller.permissions.filter((name) => name.startsWith('organization:')),
  };
}
