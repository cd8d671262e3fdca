import Type, { type Static } from 'typebox';
import { Durability, StreamMode } from '../../documents/index.ts';
import { JsonObject, Timestamp, Uuid } from '../common.ts';
import {
  CancelAction,
  CheckpointConfig,
  Command,
  InterruptNodes,
  MultitaskStrategy,
  Offset,
  QueryFlag,
  QueryList,
  RunConfig,
  RunStatus,
  words,
} from './parts.ts';

export const RUN_FIELDS = [
  'run_id',
  'thread_id',
  'assistant_id',
  'created_at',
  'updated_at',
  'status',
  'metadata',
  'kwargs',
  'multitask_strategy',
] as const;

export const Run = Type.Object(
  {
    run_id: Uuid,
    thread_id: Uuid,
    assistant_id: Uuid,
    created_at: Timestamp,
    updated_at: Timestamp,
    status: RunStatus,
    metadata: JsonObject,
    kwargs: Type.Record(Type.String(), Type.Unknown(), { description: 'The arguments the run was created with.' }),
    multitask_strategy: MultitaskStrategy,
  },
  { $id: 'Run' },
);
export type Run = Static<typeof Run>;

const TEN_YEARS_SECONDS = 315_360_000;

/** What every way of creating a run takes. */
const runFields = {
  assistant_id: Type.String({ description: 'An assistant, or a graph for its default assistant.' }),
  input: Type.Optional(Type.Unknown({ description: 'Any JSON: what the graph starts with.' })),
  command: Type.Optional(Type.Union([Command, Type.Null()])),
  metadata: Type.Optional(JsonObject),
  config: Type.Optional(RunConfig),
  context: Type.Optional(JsonObject),
  interrupt_before: Type.Optional(InterruptNodes),
  interrupt_after: Type.Optional(InterruptNodes),
  stream_mode: Type.Optional(Type.Union([StreamMode, Type.Array(StreamMode)])),
  stream_subgraphs: Type.Optional(Type.Boolean({ default: false })),
  stream_resumable: Type.Optional(
    Type.Boolean({ default: false, description: 'Give events ids and keep them, so that a client can go on.' }),
  ),
  after_seconds: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: TEN_YEARS_SECONDS,
      description: 'The run starts no sooner than this from now.',
    }),
  ),
  checkpoint_during: Type.Optional(
    Type.Boolean({ description: 'Older form of `durability`: true is `async`, false is `exit`.' }),
  ),
  durability: Type.Optional(Durability),
};

const onThread = {
  checkpoint: Type.Optional(Type.Union([CheckpointConfig, Type.Null()])),
  checkpoint_id: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  multitask_strategy: Type.Optional(MultitaskStrategy),
  if_not_exists: Type.Optional(words(['create', 'reject'], { default: 'reject' })),
  on_not_exist: Type.Optional(words(['create', 'reject'])),
};
const withoutThread = { on_completion: Type.Optional(words(['delete', 'keep'], { default: 'delete' })) };
const attended = { on_disconnect: Type.Optional(words(['cancel', 'continue'], { default: 'continue' })) };

export const RunCreateStateful = Type.Object({ ...runFields, ...onThread }, { $id: 'RunCreateStateful' });
export type RunCreateStateful = Static<typeof RunCreateStateful>;

export const RunCreateStreamingStateful = Type.Object(
  { ...runFields, ...onThread, ...attended },
  { $id: 'RunCreateStreamingStateful' },
);
export type RunCreateStreamingStateful = Static<typeof RunCreateStreamingStateful>;

export const RunCreateStateless = Type.Object({ ...runFields, ...withoutThread }, { $id: 'RunCreateStateless' });
export type RunCreateStateless = Static<typeof RunCreateStateless>;

export const RunCreateStreamingStateless = Type.Object(
  { ...runFields, ...withoutThread, ...attended },
  { $id: 'RunCreateStreamingStateless' },
);
export type RunCreateStreamingStateless = Static<typeof RunCreateStreamingStateless>;

export const RunBatchCreate = Type.Array(RunCreateStateless, { minItems: 1, $id: 'RunBatchCreate' });
export type RunBatchCreate = Static<typeof RunBatchCreate>;

export const RunsCancel = Type.Union(
  [
    Type.Object({ thread_id: Uuid, run_ids: Type.Array(Uuid, { minItems: 1 }) }),
    Type.Object({ status: words(['pending', 'running', 'all']) }),
  ],
  { $id: 'RunsCancel' },
);
export type RunsCancel = Static<typeof RunsCancel>;

export const RunListQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1, default: 10 })),
  offset: Type.Optional(Offset),
  status: Type.Optional(Type.String()),
  select: Type.Optional(Type.Union([words([...RUN_FIELDS]), Type.Array(words([...RUN_FIELDS]))])),
});
export type RunListQuery = Static<typeof RunListQuery>;

export const RunCancelQuery = Type.Object({ wait: Type.Optional(QueryFlag), action: Type.Optional(CancelAction) });
export const RunsCancelQuery = Type.Object({ action: Type.Optional(CancelAction) });
export const RunJoinQuery = Type.Object({ cancel_on_disconnect: Type.Optional(QueryFlag) });
export const RunStreamQuery = Type.Object({
  cancel_on_disconnect: Type.Optional(QueryFlag),
  stream_mode: Type.Optional(QueryList),
});
export type RunStreamQuery = Static<typeof RunStreamQuery>;

export const RUN_PARAMS = Type.Object({ thread_id: Uuid, run_id: Uuid });
export const STATELESS_RUN_PARAMS = Type.Object({ run_id: Uuid });
