import { UnauthorizedError } from '@runyard/service-kit';
import { lockPerson } from '../../access/credentials/lock-people.ts';
import { identitiesInReach } from '../../access/credentials/reach.ts';
import { audited } from '../../audit/audit-trail.ts';
import type { Database } from '../../database/database.ts';
import { organizationEvents } from '../../database/organization-events.ts';
import type { Prisma, Session } from '../../generated/client.ts';

/**
 * Lets a session act in an organization from now on, and tells caches. Who enters with an account takes the membership up.
 *
 * @throws UnauthorizedError when the session has ended meanwhile, or may not act there any more
 */
export function enterOrganization(database: Database, session: Session, organizationId: string): Promise<void> {
  const { id: sessionId, ssoOrganizationId } = session;
  return database.transact(
    audited(async (transaction, audit) => {
      if (ssoOrganizationId === null) await takeUpMembership(transaction, session, organizationId);
      await transaction.session.update({ where: { id: sessionId }, data: { organizationId } });
      await organizationEvents.sessionChanged(transaction, { sessionId });
      audit.record(organizationId, { action: 'session.entered', resourceType: 'session', resourceId: sessionId });
    }),
  );
}

/** Whoever sets another password of the account at the same time comes before, and has ended the session, or comes after. */
async function takeUpMembership(
  transaction: Prisma.TransactionClient,
  session: Session,
  organizationId: string,
): Promise<void> {
  const here = { AND: [identitiesInReach(session), { organizationId, disabledAt: null }] };
  const { count } = await transaction.identity.updateMany({ where: here, data: { isAccepted: true } });
  await lockPerson(transaction, session.personId);
  const isLive = (await transaction.session.count({ where: { id: session.id, endedAt: null } })) > 0;
  if (!isLive || count === 0)
    throw new UnauthorizedError('The session has ended: sign in again', { code: 'session_ended' });
}
