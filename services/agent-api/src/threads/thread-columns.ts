import { isoTime } from '@runyard/database';
import { Prisma } from '../connections/prisma.ts';

const COLUMNS = `t.thread_id AS "threadId", t.status, t.metadata, t.config, t.error,
  ${isoTime('t.created_at')} AS "createdAt", ${isoTime('t.updated_at')} AS "updatedAt",
  ${isoTime('t.state_updated_at')} AS "stateUpdatedAt", t.ttl_strategy AS "ttlStrategy", t.ttl_minutes AS "ttlMinutes",
  ${isoTime('t.expires_at')} AS "expiresAt"`;

const ALONE = Prisma.raw(COLUMNS);
const WITH_STATE = Prisma.raw(`${COLUMNS}, s."values", s.interrupts`);

/** Returns the columns of a `StoredThread`, of thread `t` and, when asked for, its state `s`. */
export function columnsOf(withState: boolean): Prisma.Sql {
  return withState ? WITH_STATE : ALONE;
}
