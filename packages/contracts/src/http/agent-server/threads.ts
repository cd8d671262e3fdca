import Type, { type Static } from 'typebox';
import { JsonObject } from '../../json-object.ts';
import { ErrorResponse, Timestamp, Uuid } from '../common.ts';
import { Command, Interrupt, Limit, Offset, SortOrder, stringEnum, ThreadStatus, UNDECRYPTABLE } from './parts.ts';

const Nullable = Type.Union([JsonObject, Type.Null()]);

export const PruneStrategy = stringEnum(['delete', 'keep_latest'], { default: 'delete' });

/** Minutes of a thousand years. */
const TTL_MINUTES_MAX = 525_600_000;

/** The time that a thread is kept. */
export const ThreadTtl = Type.Object(
  {
    strategy: Type.Optional(PruneStrategy),
    ttl: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: TTL_MINUTES_MAX,
        description: 'Minutes. Left out: as many as the deployment gives threads by default.',
      }),
    ),
  },
  {
    $id: 'ThreadTtl',
    description:
      '`delete` removes the thread with its runs, counted from its creation or from this change. `keep_latest` removes all checkpoints but the newest, counted from the last change of state.',
  },
);
export type ThreadTtl = Static<typeof ThreadTtl>;

export const ThreadTtlInfo = Type.Object(
  {
    strategy: PruneStrategy,
    ttl_minutes: Type.Number(),
    expires_at: Type.Optional({
      ...Timestamp,
      description: 'Absent when the thread has been pruned and not changed since.',
    }),
  },
  { $id: 'ThreadTtlInfo' },
);
export type ThreadTtlInfo = Static<typeof ThreadTtlInfo>;

export const Thread = Type.Object(
  {
    thread_id: Uuid,
    created_at: Timestamp,
    updated_at: Timestamp,
    state_updated_at: Timestamp,
    metadata: JsonObject,
    status: ThreadStatus,
    config: JsonObject,
    values: Type.Union([Type.Unknown(), Type.Null()], {
      description: `State values; null until there is state. ${UNDECRYPTABLE}`,
    }),
    interrupts: Type.Optional(Type.Record(Type.String(), Type.Array(Interrupt), { description: 'By task id.' })),
    error: Type.Optional(Nullable),
    ttl: Type.Optional(ThreadTtlInfo),
    extracted: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'What the paths of `extract` name; null for nothing.',
      }),
    ),
  },
  { $id: 'Thread' },
);
export type Thread = Static<typeof Thread>;

/**
 * The command of a node in a superstep. No interrupt waits while a thread is created, so there is nothing to resume.
 */
const SuperstepCommand = Type.Object({ ...Command.properties, resume: Type.Optional(Type.Null()) });

const ThreadSuperstep = Type.Object(
  {
    updates: Type.Array(
      Type.Object({
        values: Type.Optional(Type.Union([JsonObject, Type.Array(Type.Unknown()), Type.Null()])),
        command: Type.Optional(Type.Union([SuperstepCommand, Type.Null()])),
        as_node: Type.String({ description: 'A node of the graph, or `__input__` or `__start__` for an input.' }),
      }),
      { minItems: 1 },
    ),
  },
  { $id: 'ThreadSuperstep' },
);

export const ThreadCreate = Type.Object(
  {
    thread_id: Type.Optional(Uuid),
    graph_id: Type.Optional(Type.String({ description: 'Kept as `metadata.graph_id`.' })),
    metadata: Type.Optional(JsonObject),
    if_exists: Type.Optional(stringEnum(['raise', 'do_nothing'], { default: 'raise' })),
    ttl: Type.Optional(ThreadTtl),
    supersteps: Type.Optional(
      Type.Array(ThreadSuperstep, { description: 'State updates, applied in order; all of them or nothing.' }),
    ),
  },
  { $id: 'ThreadCreate' },
);
export type ThreadCreate = Static<typeof ThreadCreate>;

/** Reports why a thread was not created: the superstep that failed, counted from 0, and its node. */
export const SuperstepError = Type.Object(
  {
    ...ErrorResponse.properties,
    metadata: Type.Optional(
      Type.Object({
        thread_id: Uuid,
        superstep: Type.Integer(),
        as_node: Type.Union([Type.String(), Type.Null()]),
      }),
    ),
  },
  { $id: 'SuperstepError' },
);

export const ThreadPatch = Type.Object(
  {
    metadata: Type.Optional({ ...JsonObject, description: 'Merged into what is there, key by key.' }),
    ttl: Type.Optional(ThreadTtl),
  },
  { $id: 'ThreadPatch' },
);
export type ThreadPatch = Static<typeof ThreadPatch>;

const filters = {
  metadata: Type.Optional(JsonObject),
  exclude_metadata: Type.Optional({
    ...JsonObject,
    description: 'Leaves out threads whose metadata contain all of this.',
  }),
  values: Type.Optional(JsonObject),
  status: Type.Optional(ThreadStatus),
  state_updated_after: Type.Optional(Timestamp),
  state_updated_before: Type.Optional(Timestamp),
};

export const ThreadSearchRequest = Type.Object(
  {
    ...filters,
    ids: Type.Optional(Type.Array(Uuid, { description: 'Only these threads; an empty list does not filter.' })),
    limit: Type.Optional(Limit(10)),
    offset: Type.Optional(Offset),
    sort_by: Type.Optional(stringEnum(['thread_id', 'status', 'created_at', 'updated_at', 'state_updated_at'])),
    sort_order: Type.Optional(SortOrder),
    select: Type.Optional(
      Type.Array(
        stringEnum([
          'thread_id',
          'created_at',
          'updated_at',
          'state_updated_at',
          'metadata',
          'config',
          'status',
          'values',
          'interrupts',
          'error',
        ]),
      ),
    ),
    extract: Type.Optional(
      Type.Record(Type.String(), Type.String({ pattern: '^(config|interrupts|metadata|values)(?=$|[.[])' }), {
        description: 'Name to path, such as `values.messages[-1].content`; answered under `extracted`.',
        maxProperties: 10,
      }),
    ),
  },
  { $id: 'ThreadSearchRequest' },
);
export type ThreadSearchRequest = Static<typeof ThreadSearchRequest>;

export const ThreadCountRequest = Type.Object(filters, { $id: 'ThreadCountRequest' });
export type ThreadCountRequest = Static<typeof ThreadCountRequest>;

export const EXAMPLE_THREAD: Thread = {
  thread_id: '01a1c7de-8c1b-7c3e-9d52-0a4c8d7e1f20',
  created_at: '2026-11-20T20:18:31.041459+00:00',
  updated_at: '2026-11-20T20:18:31.041459+00:00',
  state_updated_at: '2026-11-20T20:18:31.041459+00:00',
  metadata: { owner: 'ada' },
  status: 'idle',
  config: {},
  values: null,
};
export const THREAD_PARAMS = Type.Object({ thread_id: Uuid });
export const EXAMPLE_THREAD_ID = EXAMPLE_THREAD.thread_id;
