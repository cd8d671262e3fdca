import type { BookedOrganization, OrganizationPlan } from '@runyard/contracts';
import { NotFoundError } from '@runyard/service-kit';
import type { Database } from '../database/database.ts';
import { organizationEvents } from '../events/organization-events.ts';
import type { Organization } from '../generated/client.ts';

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
    return this.#database.transact(async (transaction) => {
      const [row] = await transaction.organization.updateManyAndReturn({
        where: { id: organizationId },
        data: { plan },
      });
      if (!row) throw new NotFoundError('Organization not found');
      await organizationEvents.settingsChanged(transaction, { organizationId });
      return toBookedOrganization(row);
    });
  }
}

function toBookedOrganization({ id, displayName, plan }: Organization): BookedOrganization {
  return { id, display_name: displayName, plan: plan as OrganizationPlan };
}
