import type { Database } from '../database/database.ts';
import { organizationEvents } from '../events/organization-events.ts';

/** Lets a session act in an organization from now on, and tells caches. */
export async function enterOrganization(database: Database, sessionId: string, organizationId: string): Promise<void> {
  await database.transact(async (transaction) => {
    await transaction.session.update({ where: { id: sessionId }, data: { organizationId } });
    await organizationEvents.sessionChanged(transaction, { sessionId });
  });
}
