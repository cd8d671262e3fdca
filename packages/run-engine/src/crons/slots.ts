import { parseSchedule } from './schedule.ts';
import type { CronRecord } from './types.ts';

/** Returns the first slot of a cron after an instant; null when its schedule or its end leaves none. */
export function slotAfter(cron: Pick<CronRecord, 'schedule' | 'timezone' | 'endTime'>, instant: Date): Date | null {
  const slot = parseSchedule(cron.schedule, cron.timezone).nextAfter(instant);
  return slot && (cron.endTime === null || slot <= cron.endTime) ? slot : null;
}
