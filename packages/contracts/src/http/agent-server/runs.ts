import Type, { type Static } from 'typebox';
import { JsonObject } from '../../json-object.ts';
import { Timestamp, Uuid } from '../common.ts';
import {
  CancelAction,
  MultitaskStrategy,
  Offset,
  QueryFlag,
  QueryList,
  RunStatus,
  stringEnum,
  UNDECRYPTABLE,
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
  'cancel_reason',
  'langsmith_session_name',
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
    kwargs: Type.Record(Type.String(), Type.Unknown(), {
      description: `The arguments the run was created with. ${UNDECRYPTABLE}`,
    }),
    multitask_strategy: MultitaskStrategy,
    cancel_reason: Type.Optional(
      Type.Union([Type.String(), Type.Null()], { description: 'Why the run was cancelled; null when it was not.' }),
    ),
    langsmith_session_name: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description: 'The LangSmith project that its trace goes to; null when it is not traced.',
      }),
    ),
  },
  { $id: 'Run' },
);
export type Run = Static<typeof Run>;

/**
 * The runs to cancel: `status` selects those of the whole deployment or, with `thread_id`, of that thread; ids select
 * runs of one thread.
 */
export const RunsCancel = Type.Object(
  {
    thread_id: Type.Optional(Uuid),
    run_ids: Type.Optional(Type.Array(Uuid, { minItems: 1, description: 'Runs of the thread `thread_id`.' })),
    status: Type.Optional(stringEnum(['pending', 'running', 'all'], { description: 'Only runs in this status.' })),
  },
  { $id: 'RunsCancel' },
);
export type RunsCancel = Static<typeof RunsCancel>;

export const RunListQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1, default: 10 })),
  offset: Type.Optional(Offset),
  status: Type.Optional(Type.String()),
  select: Type.Optional(Type.Union([stringEnum([...RUN_FIELDS]), Type.Array(stringEnum([...RUN_FIELDS]))])),
});
export type RunListQuery = Static<typeof RunListQuery>;

export const RunCancelQuery = Type.Object({ wait: Type.Optional(QueryFlag), action: Type.Optional(CancelAction) });
export const RunsCancelQuery = Type.Object({ action: Type.Optional(CancelAction) });
const FeedbackKeysQuery = Type.Union([Type.String(), Type.Array(Type.String())], {
  description: 'Keys to answer feedback URLs for, besides those the run was created with: repeated or comma-separated.',
});
export const RunWaitQuery = Type.Object({ feedback_keys: Type.Optional(FeedbackKeysQuery) });
export type RunWaitQuery = Static<typeof RunWaitQuery>;
const CancelOnDisconnect = Type.Enum(QueryFlag.enum, {
  type: 'string',
  description: 'Whether the run is cancelled when the client leaves; needs `runs:update`.',
});
export const RunJoinQuery = Type.Object({
  cancel_on_disconnect: Type.Optional(CancelOnDisconnect),
  feedback_keys: Type.Optional(FeedbackKeysQuery),
});
export type RunJoinQuery = Static<typeof RunJoinQuery>;
export const RunStreamQuery = Type.Object({
  cancel_on_disconnect: Type.Optional(CancelOnDisconnect),
  stream_mode: Type.Optional(QueryList),
});
export type RunStreamQuery = Static<typeof RunStreamQuery>;

export const RUN_PARAMS = Type.Object({ thread_id: Uuid, run_id: Uuid });
export const STATELESS_RUN_PARAMS = Type.Object({ run_id: Uuid });
