import type { Cron } from '@runyard/contracts';
import { undecryptableValue } from '@runyard/encryption';
import type { CronRecord } from '@runyard/run-engine';
import { toWireTime } from '../http/wire-time.ts';
import type { CronPayload } from './cron-payload.ts';

export function toWireCron(cron: CronRecord): Cron {
  return {
    cron_id: cron.cronId,
    assistant_id: cron.assistantId,
    thread_id: cron.threadId,
    user_id: cron.userId,
    end_time: cron.endTime && toWireTime(cron.endTime),
    schedule: cron.schedule,
    timezone: cron.timezone ?? 'UTC',
    payload: cron.fault ? undecryptableValue(cron.fault) : toCreateRequest(cron),
    next_run_date: cron.nextRunDate && toWireTime(cron.nextRunDate),
    metadata: cron.metadata,
    on_run_completed: cron.onRunCompleted,
    enabled: cron.enabled,
    is_enabled: cron.enabled,
    created_at: toWireTime(cron.createdAt),
    updated_at: toWireTime(cron.updatedAt),
  };
}

export function selectCronFields(cron: Cron, select: (keyof Cron)[] | undefined): Partial<Cron> {
  if (!select) return cron;
  return Object.fromEntries(select.map((field) => [field, cron[field]]));
}

/** Returns the request that would create this cron as it is now. */
function toCreateRequest(cron: CronRecord): Record<string, unknown> {
  const payload = cron.payload as CronPayload;
  const { config } = payload;
  return {
    ...payload,
    assistant_id: cron.assistantId,
    schedule: cron.schedule,
    ...(cron.timezone !== null && { timezone: cron.timezone }),
    ...(cron.endTime && { end_time: toWireTime(cron.endTime) }),
    ...(cron.onRunCompleted && { on_run_completed: cron.onRunCompleted }),
    enabled: cron.enabled,
    metadata: cron.metadata,
    config: { ...config, configurable: { ...config?.configurable, cron_id: cron.cronId } },
  };
}
