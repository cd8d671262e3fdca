import type { BookedOrganization, OrganizationPlan } from '@runyard/contracts';
import { NotFoundError } from '@runyard/service-kit';
import { audited } from '../../audit/audit-trail.ts';
import type { Database } from '../../database/database.ts';
import { organizationEvents } from '../../database/organization-events.ts';
import type { Organization } from '../../generated/client.ts';

/** Lists and sets the plans of organizations, for the platform's operators. */
export class PlanService {
  readonly #database: Database;

  constructor(options: { database: Database }) {
    this.#database = options.database;
  }

  async list(): Promise<BookedOrganization[]> {
    const rows = await this.#database.prisma.organization.findMany({ orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] });
    return rows.map(toBookedOrganization);
  }

  /** Sets the plan. Principal tokens that were signed before keep the old plan for their lifetime of a minute. */
  async set(organizationId: string, plan: OrganizationPlan): Promise<BookedOrganization> {
    return this.#database.transact(
      audited(async (transaction, audit) => {
        const before = await transaction.organization.findUnique({ where: { id: organizationId } });
        if (!before) throw new NotFoundError('Organization not found');
        const updated = await transaction.organization.update({ where: { id: organizationId }, data: { plan } });
        await organizationEvents.settingsChanged(transaction, { organizationId });
        audit.record(organizationId, {
          action: 'organization.plan_changed',
          resourceType: 'organization',
          resourceId: organizationId,
          before: { plan: before.plan },
          after: { plan },
        });
        return toBookedOrganization(updated);
      }),
    );
  }
}

function toBookedOrganization({ id, displayName, plan }: Organization): BookedOrganization {
  return { id, display_name: displayName, plan: plan as OrganizationPlan };
}
