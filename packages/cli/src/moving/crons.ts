import { isObject } from '../agent-server/json.ts';

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

/** Names the cron that a copy was made of, in the metadata of the copy: ids are the servers'. */
const COPY_OF = 'runyard_copy_of';
/** True in the metadata of a copy until it was switched over. */
const TO_SWITCH = 'runyard_to_switch';
/** Names the copy in whose favour we disabled a cron, in the metadata of that cron. */
const SWITCHED_TO = 'runyard_switched_to';

/** Returns the id of the cron that this one is a copy of. */
export function copiedId({ metadata }: Cron): unknown {
  return metadata?.[COPY_OF];
}

export function isToSwitch({ metadata }: Cron): boolean {
  return metadata?.[TO_SWITCH] === true;
}

/** Returns whether a cron is disabled because it was switched over to this copy, and not by its owner. */
export function wasSwitchedTo({ metadata }: Cron, copy: Cron): boolean {
  return metadata?.[SWITCHED_TO] === copy.cron_id;
}

/** Returns the metadata of a cron that is disabled in favour of its copy. */
export function switchedMark({ metadata }: Cron, copy: Cron): Record<string, unknown> {
  return { ...metadata, [SWITCHED_TO]: copy.cron_id };
}

/** Returns the metadata of a copy that was switched over. Servers merge metadata, so the mark cannot be left out. */
export function switched({ metadata }: Cron): Record<string, unknown> {
  return { ...metadata, [TO_SWITCH]: false };
}

/** The fields of a cron's payload that are its runs'. Others repeat the cron, or are unknown. */
const OF_ITS_RUNS = [
  'input',
  'config',
  'context',
  'webhook',
  'interrupt_before',
  'interrupt_after',
  'stream_mode',
  'stream_subgraphs',
  'stream_resumable',
  'durability',
  'checkpoint_during',
  'multitask_strategy',
];

/** Returns the request that makes a disabled copy. */
export function copyRequest(cron: Cron, assistantId: string): Record<string, unknown> {
  const { cron_id, schedule, timezone, end_time, on_run_completed, metadata, thread_id } = cron;
  return {
    ...runFields(cron),
    assistant_id: assistantId,
    schedule,
    ...(timezone && { timezone }),
    ...(end_time && { end_time }),
    ...(thread_id === null && on_run_completed && { on_run_completed }),
    metadata: { ...withoutMarks(metadata), [COPY_OF]: cron_id, [TO_SWITCH]: true },
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
    metadata: withoutMarks(metadata),
    payload: runFields(cron),
  };
}

function withoutMarks(metadata: Cron['metadata'] = {}): Record<string, unknown> {
  const { [COPY_OF]: _copyOf, [TO_SWITCH]: _toSwitch, [SWITCHED_TO]: _switchedTo, ...rest } = metadata;
  return rest;
}

function runFields({ payload }: Cron): Record<string, unknown> {
  const entries = Object.entries(payload).filter(([key, value]) => OF_ITS_RUNS.includes(key) && value !== null);
  const { config: given, ...fields } = Object.fromEntries(entries);
  const config = withoutCronId(given);
  return { ...fields, ...(config && { config }) };
}

/** Servers name each cron in the configuration of its runs. One that says nothing else is none. */
function withoutCronId(config: unknown): Record<string, unknown> | undefined {
  if (!isObject(config)) return undefined;
  const { configurable, ...rest } = config;
  const { cron_id: _cronId, ...others } = isObject(configurable) ? configurable : {};
  const left = Object.keys(others).length > 0 ? { ...rest, configurable: others } : rest;
  return Object.keys(left).length > 0 ? left : undefined;
}
