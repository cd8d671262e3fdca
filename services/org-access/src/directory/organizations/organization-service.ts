import type {
  LinkedLoginMethod,
  OrganizationInfo,
  OrganizationUpdate,
  Organization as RenderedOrganization,
} from '@runyard/contracts';
import type { Principal } from '@runyard/service-kit';
import { applyGroupGrants } from '../../access/group-grants.ts';
import { requireOrganizationAdministrator } from '../../access/require-administrator.ts';
import { audited } from '../../audit/audit-trail.ts';
import { changeOrigin } from '../../audit/change-origin.ts';
import { changedFields } from '../../audit/changed-fields.ts';
import type { Database } from '../../database/database.ts';
import { organizationEvents } from '../../database/organization-events.ts';
import type { Organization } from '../../generated/client.ts';
import { setDefaultOrganization } from './default-organization.ts';
import { listLoginMethods, setSsoOnly } from './login-methods.ts';
import { replaceLoginSlug } from './login-slug.ts';
import { columnsOf } from './organization-changes.ts';
import { type Installation, renderInfo, renderOrganization } from './render-organization.ts';

/** Reads and changes the caller's own organization and its settings. */
export class OrganizationService {
  readonly #database: Database;
  readonly #installation: Installation;

  constructor(options: { database: Database; installation: Installation }) {
    this.#database = options.database;
    this.#installation = options.installation;
  }

  async info(caller: Principal): Promise<OrganizationInfo> {
    return this.#render(await this.#find(caller), caller);
  }

  async current(caller: Principal): Promise<RenderedOrganization> {
    return renderOrganization(await this.#find(caller));
  }

  listLoginMethods(caller: Principal): Promise<LinkedLoginMethod[]> {
    return listLoginMethods(this.#database.prisma, caller);
  }

  async setSsoOnly(caller: Principal, ssoOnly: boolean): Promise<OrganizationInfo> {
    requireOrganizationAdministrator(caller, 'change login methods');
    return this.#database.transact(
      audited(async (transaction, audit) =>
        this.#render(await setSsoOnly(transaction, audit, caller, ssoOnly), caller),
      ),
    );
  }

  async setDefault(caller: Principal): Promise<OrganizationInfo> {
    requireOrganizationAdministrator(caller, 'change the default organization');
    return this.#database.transact(
      audited(async (transaction, audit) =>
        this.#render(await setDefaultOrganization(transaction, audit, caller), caller),
      ),
    );
  }

  async update(caller: Principal, change: OrganizationUpdate): Promise<OrganizationInfo> {
    requireOrganizationAdministrator(caller, 'change its settings');
    const { organizationId } = caller;
    return this.#database.transact(
      audited(async (transaction, audit) => {
        if (change.sso_login_slug != null) await replaceLoginSlug(transaction, organizationId, change.sso_login_slug);
        const before = await transaction.organization.findUniqueOrThrow({ where: { id: organizationId } });
        const updated = await transaction.organization.update({
          where: { id: organizationId },
          data: columnsOf(change, before, changeOrigin().address),
        });
        if (updated.scimGroupNameSeparator !== before.scimGroupNameSeparator) {
          await applyGroupGrants(transaction, organizationId);
        }
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
        return this.#render(updated, caller);
      }),
    );
  }

  #find({ organizationId }: Principal): Promise<Organization> {
    return this.#database.prisma.organization.findUniqueOrThrow({ where: { id: organizationId } });
  }

  #render(organization: Organization, caller: Principal): OrganizationInfo {
    return renderInfo(organization, caller, this.#installation);
  }
}

/** Returns the settings as an audit event has them. */
function settingsOf({ id: _id, createdAt: _createdAt, updatedAt: _updatedAt, ...settings }: Organization): object {
  return settings;
}
