import { isObject } from './compare.ts';

export interface Cron {
  cron_id: string;
  assistant_id: string | null;
  thread_id: string | null;
  schedule: string;
  timezone?: string | null;
  end_time: string | null;
  on_run_completed?: string | null;
  payload: Record<string, unknown>;
  metadata?: Record<string, unknown>;
  enabled: boolean;
}

/** Name the cron that a copy was made of, and how it was then, in the metadata of the copy: ids are the servers'. */
const COPY_OF = 'runyard_copy_of';
const WAS_ENABLED = 'runyard_was_enabled';

/** Returns the metadata by which the copy of a cron is found. */
export function markOf(cronId: string): Record<string, unknown> {
  return { [COPY_OF]: cronId };
}

export function wasEnabled({ metadata }: Cron): boolean {
  return metadata?.[WAS_ENABLED] === true;
}

/** The fields of a cron's payload that are its runs'. The others repeat the cron. */
const OF_THE_CRON = [
  'assistant_id',
  'metadata',
  'schedule',
  'timezone',
  'end_time',
  'on_run_completed',
  'enabled',
  'is_enabled',
];

/** Returns the request that makes a disabled copy. */
export function copyRequest(cron: Cron, assistantId: string): Record<string, unknown> {
  const { cron_id, schedule, timezone, end_time, on_run_completed, metadata, enabled, thread_id } = cron;
  return {
    ...runFields(cron),
    assistant_id: assistantId,
    schedule,
    ...(timezone && { timezone }),
    ...(end_time && { end_time }),
    ...(thread_id === null && on_run_completed && { on_run_completed }),
    metadata: { ...withoutMark(metadata), ...markOf(cron_id), [WAS_ENABLED]: enabled },
    enabled: false,
  };
}

/** Returns what has to be the same of a cron and its copy. */
export function comparableCron(cron: Cron): Record<string, unknown> {
  const { schedule, timezone, end_time, thread_id, metadata } = cron;
  return {
    schedule,
    timezone: timezone || 'UTC',
    end_time: end_time && Date.parse(end_time),
    thread_id,
    metadata: withoutMark(metadata),
    payload: runFields(cron),
  };
}

function withoutMark(metadata: Cron['metadata'] = {}): Record<string, unknown> {
  const { [COPY_OF]: _copyOf, [WAS_ENABLED]: _wasEnabled, ...rest } = metadata;
  return rest;
}

function runFields({ payload }: Cron): Record<string, unknown> {
  const entries = Object.entries(payload).filter(([key, value]) => !OF_THE_CRON.includes(key) && value !== null);
  const fields = Object.fromEntries(entries);
  const config = withoutCronId(fields.config);
  return { ...fields, ...(config && { config }) };
}

/** Servers name each cron in the configuration of its runs. */
function withoutCronId(config: unknown): Record<string, unknown> | undefined {
  if (!isObject(config)) return undefined;
  const { configurable, ...rest } = config;
  if (!isObject(configurable)) return rest;
  const { cron_id: _cronId, ...others } = configurable;
  return Object.keys(others).length > 0 ? { ...rest, configurable: others } : rest;
}
