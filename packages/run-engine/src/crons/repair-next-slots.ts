import { withTransaction } from '@runyard/database';
import type pg from 'pg';
import type { CronRow } from './cron-row.ts';
import { InvalidScheduleError } from './schedule.ts';
import { slotAfter } from './slots.ts';

/** Matches six fields, the last of them the seconds. */
const WITH_SECONDS = '^\\s*(\\S+\\s+){5}\\S+\\s*$';

type CronWithoutSlot = Pick<CronRow, 'cron_id' | 'schedule' | 'timezone' | 'end_time'> & { present: Date };

/**
 * Sets the next slot of crons with seconds that have none although their schedule gives one. The previous release does
 * not support such schedules: its processes clear the next slot when they fire one. Returns how many were set.
 */
export function repairNextSlots(pool: pg.Pool): Promise<number> {
  return withTransaction(pool, async (client) => {
    const { rows } = await client.query<CronWithoutSlot>({
      name: 'engine_crons_without_slot',
      text: `SELECT cron_id, schedule, timezone, end_time, now() AS present FROM cron
             WHERE enabled AND next_run_date IS NULL AND (end_time IS NULL OR end_time > now()) AND schedule ~ $1
             ORDER BY cron_id FOR UPDATE SKIP LOCKED`,
      values: [WITH_SECONDS],
    });
    const repaired = rows.flatMap((row) => {
      const slot = nextSlotOf(row);
      return slot ? [{ cronId: row.cron_id, slot }] : [];
    });
    if (repaired.length === 0) return 0;
    await client.query({
      name: 'engine_repair_next_slots',
      text: `UPDATE cron c SET next_run_date = i.slot
             FROM unnest($1::uuid[], $2::timestamptz[]) AS i (cron_id, slot) WHERE c.cron_id = i.cron_id`,
      values: [repaired.map(({ cronId }) => cronId), repaired.map(({ slot }) => slot)],
    });
    return repaired.length;
  });
}

function nextSlotOf({ schedule, timezone, end_time, present }: CronWithoutSlot): Date | null {
  try {
    return slotAfter({ schedule, timezone, endTime: end_time }, present);
  } catch (error) {
    // This machine does not know its time zone: it has no next slot until it is changed.
    if (error instanceof InvalidScheduleError) return null;
    throw error;
  }
}
