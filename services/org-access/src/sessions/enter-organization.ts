import { audited } from '../audit/audit-trail.ts';
import type { Database } from '../database/database.ts';
import { organizationEvents } from '../events/organization-events.ts';

/** Lets a session act in an organization from now on, and tells caches. */
export function enterOrganization(database: Database, sessionId: string, organizationId: string): Promise<void> {
  return database.transact(
    audited(async (transaction, audit) => {
      await transaction.session.update({ where: { id: sessionId }, data: { organizationId } });
      await organizationEvents.sessionChanged(transaction, { sessionId });
      audit.record(organizationId, { action: 'session.entered', resourceType: 'session', resourceId: sessionId });
    }),
  );
}
