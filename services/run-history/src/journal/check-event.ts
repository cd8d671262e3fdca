import { type RunEvent, RunStatus, redisKeyPrefix } from '@runyard/contracts';
import { DAY_MS, oldestKept } from '../runs/retention-time.ts';
import { timeOfId } from '../runs/run-id-time.ts';

/** Why an event is not in the journal. */
export type LeftOut = 'unknown_deployment' | 'other_deployment' | 'expired' | 'invalid' | 'refused';

/** Clocks may differ by so much. */
const SKEW_MS = DAY_MS;
/** Far more than a run ever has. */
const ATTEMPTS_MAX = 100_000;

const STATUSES: ReadonlySet<string> = new Set(RunStatus.enum);

/**
 * Returns why an event has no place in the journal; undefined for one that has. Whoever can write to the bus may send
 * what no deployment does.
 *
 * @param source the bus of one deployment, which alone it may speak of; undefined for that of all
 */
export function findFault(event: RunEvent, retentionDays: number, source?: string): LeftOut | undefined {
  const { data } = event;
  if (source !== undefined && source !== redisKeyPrefix(data.deployment_id.toLowerCase())) return 'other_deployment';
  const madeAt = timeOfId(data.run_id);
  // A schema takes the second 60, which is no date here.
  const time = Date.parse(event.time);
  const latest = Date.now() + SKEW_MS;
  if (madeAt === undefined || !(time >= madeAt - SKEW_MS && time <= latest) || madeAt > latest) return 'invalid';
  if ('attempt' in data && (data.attempt < 0 || data.attempt > ATTEMPTS_MAX)) return 'invalid';
  if (event.type === 'runyard.run.finished' && !STATUSES.has(event.data.status)) return 'invalid';
  return madeAt < oldestKept(retentionDays) ? 'expired' : undefined;
}
