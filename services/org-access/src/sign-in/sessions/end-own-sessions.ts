import { endSessions, type SessionEndReason } from '../../access/credentials/end-sessions.ts';
import { lockPerson } from '../../access/credentials/lock-people.ts';
import { sessionsInReach } from '../../access/credentials/reach.ts';
import type { AuditRecorder } from '../../audit/audit-trail.ts';
import type { Prisma, Session } from '../../generated/client.ts';
import { recordForSession } from './record-for-session.ts';

/** The session that ends others, or itself. */
type Owner = Pick<Session, 'id' | 'personId' | 'clientId' | 'organizationId' | 'ssoOrganizationId'>;

/** Ends one of the sessions that a person may end, and records it. @returns false when there is no such session */
export async function endOwnSession(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  owner: Owner,
  sessionId: string,
): Promise<boolean> {
  const where = { AND: [sessionsInReach(owner), { id: sessionId }] };
  const session = await transaction.session.findFirst({ where });
  const reason = 'signed_out';
  if (!session || (await endSessions(transaction, where, reason)) === 0) return false;
  await recordEnd(transaction, audit, { session, sessionId, ended: 1, reason });
  return true;
}

/** Ends all sessions that a person may end, also one that is being opened, and records it. @returns their number */
export async function endOwnSessions(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  owner: Owner,
  { keptSessionId }: { keptSessionId?: string },
): Promise<number> {
  const reason = 'signed_out_everywhere';
  await lockPerson(transaction, owner.personId);
  const others = keptSessionId === undefined ? {} : { id: { not: keptSessionId } };
  const ended = await endSessions(transaction, { AND: [sessionsInReach(owner), others] }, reason);
  if (ended > 0) await recordEnd(transaction, audit, { session: owner, sessionId: null, ended, reason });
  return ended;
}

/** @param sessionId null for several */
function recordEnd(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  {
    session,
    sessionId,
    ...details
  }: { session: Owner; sessionId: string | null; ended: number; reason: SessionEndReason },
): Promise<void> {
  const entry = { action: 'session.ended', resourceType: 'session', resourceId: sessionId, details };
  return recordForSession(transaction, audit, session, entry);
}
