import { Prisma } from '../connections/prisma.ts';

const wireTime = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"')`;

const COLUMNS = `t.thread_id AS "threadId", t.status, t.metadata, t.config, t.error,
  ${wireTime('t.created_at')} AS "createdAt", ${wireTime('t.updated_at')} AS "updatedAt",
  ${wireTime('t.state_updated_at')} AS "stateUpdatedAt", t.ttl_strategy AS "ttlStrategy", t.ttl_minutes AS "ttlMinutes",
  ${wireTime('t.expires_at')} AS "expiresAt"`;

const ALONE = Prisma.raw(COLUMNS);
const WITH_STATE = Prisma.raw(`${COLUMNS}, s."values", s.interrupts`);

/** Returns the columns of a `StoredThread`, of thread `t` and, when asked for, its state `s`. */
export function columnsOf(withState: boolean): Prisma.Sql {
  return withState ? WITH_STATE : ALONE;
}
