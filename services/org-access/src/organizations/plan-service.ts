import type { BookedOrganization, OrganizationPlan } from '@runyard/contracts';
import { NotFoundError } from '@runyard/service-kit';
import type { Database } from '../database/database.ts';
import { organizationEvents } from '../events/organization-events.ts';
import type { Organization } from '../generated/client.ts';

/** What organizations have booked: for whoever runs the platform to see and to set, not for the organizations. */
export class PlanService {
  readonly #database: Database;

  constructor(options: { database: Database }) {
    this.#database = options.database;
  }

  async list(): Promise<BookedOrganization[]> {
    const rows = await this.#database.prisma.organization.findMany({ orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] });
    return rows.map(booked);
  }

  /** Principal tokens that were signed before go on with the plan they name, for the minute they live. */
  async set(organizationId: string, plan: OrganizationPlan): Promise<BookedOrganization> {
    return this.#database.change(async (transaction) => {
      const [row] = await transaction.organization.updateManyAndReturn({
        where: { id: organizationId },
        data: { plan },
      });
      if (!row) throw new NotFoundError('Organization not found');
      await organizationEvents.settingsChanged(transaction, { organizationId });
      return booked(row);
    });
  }
}

function booked({ id, displayName, plan }: Organization): BookedOrganization {
  return { id, display_name: displayName, plan: plan as OrganizationPlan };
}
