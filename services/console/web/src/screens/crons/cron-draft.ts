import type { Cron, CronCreate, CronPatch } from '@runyard/contracts';
import { isJsonObject, type JsonObject, orUndefined, stableJson } from '../../components/json-objects.ts';
import { toLocalField } from '../../components/time.tsx';
import { isUuid } from '../../platform/uuid.ts';

/** A cron as a form has it. */
export interface CronDraft {
  assistant: string;
  schedule: string;
  timezone: string;
  /** The id of its thread; empty: each run has one of its own. */
  thread: string;
  /** A local time as fields of dates have it; empty: it has no end. */
  endTime: string;
  onRunCompleted: 'delete' | 'keep';
  webhook: string;
  isEnabled: boolean;
  input: unknown;
  metadata: unknown;
  /** The other fields of its runs, by the names of the API. */
  more: unknown;
}

export type CronField = keyof CronDraft;

/** The fields of the API that the form has a field of its own for, by those of the form. */
const OWN_FIELDS: Record<string, CronField> = {
  assistant_id: 'assistant',
  schedule: 'schedule',
  timezone: 'timezone',
  thread_id: 'thread',
  end_time: 'endTime',
  on_run_completed: 'onRunCompleted',
  webhook: 'webhook',
  enabled: 'isEnabled',
  is_enabled: 'isEnabled',
  input: 'input',
  metadata: 'metadata',
};

/** Returns the draft to make a cron by. */
export function emptyDraft(assistant: string, timezone: string): CronDraft {
  return {
    assistant,
    timezone,
    schedule: '',
    thread: '',
    endTime: '',
    onRunCompleted: 'delete',
    webhook: '',
    isEnabled: true,
    input: undefined,
    metadata: undefined,
    more: undefined,
  };
}

/** Returns the draft to change a cron by. */
export function draftOf(cron: Cron): CronDraft {
  const payload = isUndecryptable(cron) ? {} : cron.payload;
  return {
    assistant: cron.assistant_id,
    schedule: cron.schedule,
    timezone: cron.timezone,
    thread: cron.thread_id ?? '',
    endTime: toLocalField(cron.end_time),
    onRunCompleted: cron.on_run_completed ?? 'delete',
    webhook: typeof payload.webhook === 'string' ? payload.webhook : '',
    isEnabled: cron.enabled,
    input: payload.input,
    metadata: orUndefined(cron.metadata),
    more: moreOf(payload),
  };
}

/** Returns whether the arguments of a cron cannot be decrypted: then a form does not show them. */
export function isUndecryptable({ payload }: Cron): boolean {
  return Object.hasOwn(payload, '__error__');
}

/** Returns what is wrong with a draft, by field. The platform knows everything else better. */
export function faultsOfDraft(draft: CronDraft): Map<CronField, string> {
  const faults = new Map<CronField, string>();
  if (draft.assistant === '') faults.set('assistant', 'With which assistant?');
  if (draft.schedule.trim() === '') faults.set('schedule', 'A cron needs a schedule');
  if (draft.thread.trim() !== '' && !isUuid(draft.thread.trim()))
    faults.set('thread', 'The id of a thread is a UUID; leave it empty for a new thread each time');
  for (const field of ['metadata', 'more'] as const)
    if (draft[field] !== undefined && !isJsonObject(draft[field])) faults.set(field, 'Write it as an object: { … }');
  const doubled = isJsonObject(draft.more)
    ? Object.keys(draft.more).filter((key) => Object.hasOwn(OWN_FIELDS, key))
    : [];
  if (doubled.length > 0) faults.set('more', `These have fields of their own: ${doubled.join(', ')}`);
  return faults;
}

/** Returns what a draft takes away that no request can take away, by field: changes are merged. */
export function faultsOfRemoval(cron: Cron, draft: CronDraft): Map<CronField, string> {
  const before = draftOf(cron);
  const faults = new Map<CronField, string>();
  if (before.webhook !== '' && draft.webhook.trim() === '')
    faults.set('webhook', 'A webhook can be changed, not taken away: make the cron anew without it');
  for (const field of ['metadata', 'more'] as const) {
    const written = isJsonObject(draft[field]) ? draft[field] : {};
    const missing = Object.keys(before[field] ?? {}).filter((key) => !Object.hasOwn(written, key));
    if (missing.length > 0) faults.set(field, `Keys cannot be taken away: ${missing.join(', ')}`);
  }
  return faults;
}

/** Returns the field that a sentence of the platform is about. */
export function fieldOfSentence(sentence: string): CronField | undefined {
  const name = /^([a-z_]+)\b/.exec(sentence)?.[1];
  if (name !== undefined && Object.hasOwn(OWN_FIELDS, name)) return OWN_FIELDS[name];
  if (/^Invalid cron schedule/.test(sentence)) return 'schedule';
  if (/^Invalid timezone/.test(sentence)) return 'timezone';
  if (/^Webhook /.test(sentence)) return 'webhook';
  if (/^Assistant /.test(sentence)) return 'assistant';
  if (/^Thread /.test(sentence)) return 'thread';
  if (/^(config|context|interrupt_|stream_|durability|multitask_|checkpoint_|Cannot specify both)/.test(sentence))
    return 'more';
  return undefined;
}

/** Returns the request that makes a cron, and the thread it is of. */
export function creationOf(draft: CronDraft): { threadId: string | undefined; body: CronCreate } {
  const threadId = draft.thread.trim() || undefined;
  const body: CronCreate = {
    ...(draft.more as JsonObject | undefined),
    assistant_id: draft.assistant,
    schedule: draft.schedule.trim(),
    ...(draft.timezone.trim() !== '' && { timezone: draft.timezone.trim() }),
    ...(draft.endTime !== '' && { end_time: timeOf(draft.endTime) }),
    ...(threadId === undefined && { on_run_completed: draft.onRunCompleted }),
    ...(draft.webhook.trim() !== '' && { webhook: draft.webhook.trim() }),
    ...(!draft.isEnabled && { enabled: false }),
    ...(draft.input !== undefined && { input: draft.input }),
    ...(draft.metadata !== undefined && { metadata: draft.metadata as JsonObject }),
  };
  return { threadId, body };
}

/** Returns the request that changes a cron to a draft: only what differs; undefined where nothing does. */
export function patchOf(cron: Cron, draft: CronDraft): CronPatch | undefined {
  const before = draftOf(cron);
  const isChanged = (field: CronField) => stableJson(before[field]) !== stableJson(draft[field]);
  const more = Object.entries((draft.more ?? {}) as JsonObject).filter(
    ([key, value]) => stableJson(((before.more ?? {}) as JsonObject)[key]) !== stableJson(value),
  );
  const patch: CronPatch = {
    ...Object.fromEntries(more),
    ...(isChanged('schedule') && { schedule: draft.schedule.trim() }),
    ...(isChanged('timezone') && { timezone: draft.timezone.trim() || null }),
    ...(isChanged('endTime') && { end_time: draft.endTime === '' ? null : timeOf(draft.endTime) }),
    ...(isChanged('onRunCompleted') && { on_run_completed: draft.onRunCompleted }),
    ...(isChanged('webhook') && { webhook: draft.webhook.trim() }),
    ...(isChanged('isEnabled') && { enabled: draft.isEnabled }),
    ...(stableJson(before.input ?? null) !== stableJson(draft.input ?? null) && { input: draft.input ?? null }),
    ...(isChanged('metadata') && { metadata: (draft.metadata ?? {}) as JsonObject }),
  };
  return Object.keys(patch).length > 0 ? patch : undefined;
}

/** Returns the fields of a request that the form has no field for, without the id that the platform adds to them. */
function moreOf({ config, ...payload }: JsonObject): JsonObject | undefined {
  const { configurable, ...others } = isJsonObject(config) ? config : {};
  const { cron_id: _id, ...own } = isJsonObject(configurable) ? configurable : {};
  const rest = Object.entries(payload).filter(([key]) => !Object.hasOwn(OWN_FIELDS, key));
  const written = orUndefined({ ...others, ...(Object.keys(own).length > 0 && { configurable: own }) });
  return orUndefined({ ...Object.fromEntries(rest), ...(written && { config: written }) });
}

function timeOf(local: string): string {
  return new Date(local).toISOString();
}
