import Type, { type Static } from 'typebox';
import { Durability, StreamMode } from '../../documents/index.ts';
import { JsonObject } from '../../json-object.ts';
import { Timestamp, Uuid } from '../common.ts';
import {
  InterruptNodes,
  Limit,
  MultitaskStrategy,
  Offset,
  RunConfig,
  SortOrder,
  stringEnum,
  UNDECRYPTABLE,
} from './parts.ts';

const OnRunCompleted = stringEnum(['delete', 'keep']);
const nullableTime = (description: string) => Type.Union([Timestamp, Type.Null()], { description });

const CRON_FIELDS = [
  'cron_id',
  'assistant_id',
  'thread_id',
  'on_run_completed',
  'end_time',
  'schedule',
  'timezone',
  'created_at',
  'updated_at',
  'user_id',
  'payload',
  'next_run_date',
  'metadata',
  'enabled',
  'is_enabled',
] as const;

/** Creates runs at the times of a schedule. */
export const Cron = Type.Object(
  {
    cron_id: Uuid,
    assistant_id: Uuid,
    thread_id: Type.Union([Uuid, Type.Null()], { description: 'Null: each firing has a thread of its own.' }),
    on_run_completed: Type.Union([OnRunCompleted, Type.Null()], { description: 'Null for crons of a thread.' }),
    end_time: nullableTime('No run after it.'),
    schedule: Type.String(),
    timezone: Type.String({ description: 'IANA name of the zone the schedule is in.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
    user_id: Type.Union([Type.String(), Type.Null()], { description: 'Who made it.' }),
    payload: Type.Record(Type.String(), Type.Unknown(), {
      description: `The request as it stands after all changes. ${UNDECRYPTABLE}`,
    }),
    next_run_date: nullableTime('The next run; null when the schedule or `end_time` leaves none.'),
    metadata: JsonObject,
    enabled: Type.Boolean(),
    is_enabled: Type.Boolean({ description: 'The same as `enabled`.' }),
  },
  { $id: 'Cron' },
);
export type Cron = Static<typeof Cron>;

const Schedule = Type.String({
  maxLength: 1000,
  description:
    'Minute, hour, day of month, month, weekday, and seconds as a sixth if need be; or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`. A local time that the clocks skip counts at the next minute there is, one that comes twice only the first time.',
});
const Timezone = Type.String({ maxLength: 100, description: 'IANA name of the zone the schedule is in; default UTC.' });
/** A time without an offset is UTC: Python writes times without a zone so. */
const EndTime = Type.String({ format: 'iso-date-time', description: 'No run after it.' });

/** The request fields of the runs that a cron creates. */
const runFields = {
  input: Type.Optional(Type.Unknown({ description: 'Any JSON: what the graph starts with.' })),
  metadata: Type.Optional(JsonObject),
  config: Type.Optional(RunConfig),
  context: Type.Optional(JsonObject),
  webhook: Type.Optional(
    Type.String({ minLength: 1, maxLength: 65_536, description: 'Gets each run by POST once it has ended.' }),
  ),
  interrupt_before: Type.Optional(InterruptNodes),
  interrupt_after: Type.Optional(InterruptNodes),
  stream_mode: Type.Optional(Type.Union([StreamMode, Type.Array(StreamMode)])),
  stream_subgraphs: Type.Optional(Type.Boolean()),
  stream_resumable: Type.Optional(Type.Boolean()),
  durability: Type.Optional(Durability),
  multitask_strategy: Type.Optional(MultitaskStrategy),
  checkpoint_during: Type.Optional(
    Type.Boolean({ description: 'Older form of `durability`: true is `async`, false is `exit`.' }),
  ),
};
const switches = {
  enabled: Type.Optional(Type.Boolean({ description: 'False: nothing runs until it is true again. Default true.' })),
  is_enabled: Type.Optional(Type.Boolean({ description: 'The same as `enabled`.' })),
};
const creation = {
  schedule: Schedule,
  timezone: Type.Optional(Timezone),
  end_time: Type.Optional(EndTime),
  assistant_id: Type.String({ description: 'An assistant, or a graph for its default assistant.' }),
  ...runFields,
  ...switches,
};

export const CronCreate = Type.Object(
  {
    ...creation,
    on_run_completed: Type.Optional(
      stringEnum(['delete', 'keep'], { description: 'What becomes of the thread of a firing. Default `delete`.' }),
    ),
  },
  { $id: 'CronCreate' },
);
export type CronCreate = Static<typeof CronCreate>;

export const ThreadCronCreate = Type.Object(creation, { $id: 'ThreadCronCreate' });
export type ThreadCronCreate = Static<typeof ThreadCronCreate>;

export const CronPatch = Type.Object(
  {
    schedule: Type.Optional(Schedule),
    timezone: Type.Optional(Type.Union([Timezone, Type.Null()], { description: 'Null: UTC.' })),
    end_time: Type.Optional(Type.Union([EndTime, Type.Null()], { description: 'Null takes the end away.' })),
    ...runFields,
    metadata: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'Merged key by key.' })),
    on_run_completed: Type.Optional(OnRunCompleted),
    ...switches,
  },
  { $id: 'CronPatch' },
);
export type CronPatch = Static<typeof CronPatch>;

const filters = {
  assistant_id: Type.Optional(Uuid),
  thread_id: Type.Optional(Uuid),
  metadata: Type.Optional(JsonObject),
  enabled: Type.Optional(Type.Boolean()),
  is_enabled: Type.Optional(Type.Boolean({ description: 'The same as `enabled`.' })),
};

export const CronSearch = Type.Object(
  {
    ...filters,
    limit: Type.Optional(Limit(10)),
    offset: Type.Optional(Offset),
    sort_by: Type.Optional(
      stringEnum(['cron_id', 'assistant_id', 'thread_id', 'next_run_date', 'end_time', 'created_at', 'updated_at'], {
        default: 'created_at',
      }),
    ),
    sort_order: Type.Optional(SortOrder),
    select: Type.Optional(Type.Array(stringEnum([...CRON_FIELDS]))),
  },
  { $id: 'CronSearch' },
);
export type CronSearch = Static<typeof CronSearch>;

export const CronCountRequest = Type.Object(filters, { $id: 'CronCountRequest' });
export type CronCountRequest = Static<typeof CronCountRequest>;
