import Type, { type Static } from 'typebox';
import { Durability, StreamMode } from '../../documents/index.ts';
import { JsonObject } from '../../json-object.ts';
import { Command, InterruptNodes, MultitaskStrategy, RunConfig, stringEnum } from './parts.ts';

const TEN_YEARS_SECONDS = 315_360_000;

/** The destination of a run's trace when the deployment traces to LangSmith. */
const LangsmithTracer = Type.Object({
  project_name: Type.Optional(Type.String({ description: 'The project; shown as `langsmith_session_name`.' })),
  example_id: Type.Optional(Type.String({ description: 'The example of a dataset that the run is an experiment on.' })),
});

/** The fields of every request that creates a run. */
const runFields = {
  assistant_id: Type.String({ description: 'An assistant, or a graph for its default assistant.' }),
  input: Type.Optional(Type.Unknown({ description: 'Any JSON: what the graph starts with.' })),
  command: Type.Optional(Type.Union([Command, Type.Null()])),
  metadata: Type.Optional(JsonObject),
  config: Type.Optional(RunConfig),
  context: Type.Optional(JsonObject),
  webhook: Type.Optional(
    Type.String({ minLength: 1, maxLength: 65_536, description: 'Gets the run by POST once it has ended.' }),
  ),
  interrupt_before: Type.Optional(InterruptNodes),
  interrupt_after: Type.Optional(InterruptNodes),
  stream_mode: Type.Optional(Type.Union([StreamMode, Type.Array(StreamMode)])),
  stream_subgraphs: Type.Optional(Type.Boolean({ default: false })),
  stream_resumable: Type.Optional(
    Type.Boolean({ default: false, description: 'Give events ids and keep them, so that a client can go on.' }),
  ),
  feedback_keys: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
      maxItems: 100,
      description:
        'Keys to answer feedback URLs for: as event `feedback` of a stream, under `__feedback__` of a result.',
    }),
  ),
  multitask_strategy: Type.Optional(MultitaskStrategy),
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
  langsmith_tracer: Type.Optional(Type.Union([LangsmithTracer, Type.Null()])),
};

/** The checkpoint of its thread from which a run starts; default: the newest. */
const StartingCheckpoint = Type.Object({
  thread_id: Type.Optional(
    Type.Union([Type.String(), Type.Null()], { description: 'The thread of the path; another one is refused.' }),
  ),
  checkpoint_id: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  checkpoint_ns: Type.Optional(
    Type.Union([Type.String(), Type.Null()], { description: 'The namespace that `checkpoint_id` is of.' }),
  ),
  checkpoint_map: Type.Optional(
    Type.Union([JsonObject, Type.Null()], { description: 'Checkpoint id by namespace, for subgraphs to start at.' }),
  ),
});

const threadFields = {
  checkpoint: Type.Optional(Type.Union([StartingCheckpoint, Type.Null()])),
  checkpoint_id: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  if_not_exists: Type.Optional(stringEnum(['create', 'reject'], { default: 'reject' })),
  on_not_exist: Type.Optional(stringEnum(['create', 'reject'], { description: 'Another name for `if_not_exists`.' })),
};
const statelessFields = { on_completion: Type.Optional(stringEnum(['delete', 'keep'], { default: 'delete' })) };
const disconnectFields = { on_disconnect: Type.Optional(stringEnum(['cancel', 'continue'], { default: 'continue' })) };

export const RunCreateStateful = Type.Object({ ...runFields, ...threadFields }, { $id: 'RunCreateStateful' });
export type RunCreateStateful = Static<typeof RunCreateStateful>;

export const RunCreateStreamingStateful = Type.Object(
  { ...runFields, ...threadFields, ...disconnectFields },
  { $id: 'RunCreateStreamingStateful' },
);
export type RunCreateStreamingStateful = Static<typeof RunCreateStreamingStateful>;

export const RunCreateStateless = Type.Object({ ...runFields, ...statelessFields }, { $id: 'RunCreateStateless' });
export type RunCreateStateless = Static<typeof RunCreateStateless>;

export const RunCreateStreamingStateless = Type.Object(
  { ...runFields, ...statelessFields, ...disconnectFields },
  { $id: 'RunCreateStreamingStateless' },
);
export type RunCreateStreamingStateless = Static<typeof RunCreateStreamingStateless>;

/** All of them are accepted together, or none. */
export const RunBatchCreate = Type.Array(RunCreateStateless, { minItems: 1, maxItems: 5_000, $id: 'RunBatchCreate' });
export type RunBatchCreate = Static<typeof RunBatchCreate>;
