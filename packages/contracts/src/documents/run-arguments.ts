import Type, { type Static } from 'typebox';
import { JsonObject } from '../json-object.ts';

/** A stream mode under the name that clients use. */
export const StreamMode = Type.Union([
  Type.Literal('values'),
  Type.Literal('updates'),
  Type.Literal('messages'),
  Type.Literal('messages-tuple'),
  Type.Literal('custom'),
  Type.Literal('events'),
  Type.Literal('debug'),
  Type.Literal('tasks'),
  Type.Literal('checkpoints'),
  Type.Literal('tools'),
]);
export type StreamMode = Static<typeof StreamMode>;

export const Durability = Type.Union([Type.Literal('sync'), Type.Literal('async'), Type.Literal('exit')]);
export type Durability = Static<typeof Durability>;

/** Every node (`"*"`), or node names. */
const InterruptPoints = Type.Union([Type.Literal('*'), Type.Array(Type.String())]);

/** Resumes or steers a thread; at least one of its fields is given. */
const RunCommand = Type.Object({
  resume: Type.Optional(Type.Unknown()),
  update: Type.Optional(Type.Unknown()),
  goto: Type.Optional(Type.Unknown()),
});

/** Keys of `configurable` that name the LangSmith project and example of the run's trace. */
export const TRACING_PROJECT_KEY = '__langsmith_project__';
export const TRACING_EXAMPLE_KEY = '__langsmith_example_id__';
/** Keys of `configurable` with the place in the caller's own LangSmith trace that the run's goes on below. */
export const LANGSMITH_TRACE_KEY = '__langsmith_trace__';
export const LANGSMITH_BAGGAGE_KEY = '__langsmith_baggage__';

/**
 * Keys of `configurable` with the W3C trace context that every attempt of the run, and its webhooks, continue. Project
 * code may hand it on to what it calls.
 */
export const TRACEPARENT_KEY = '__otel_traceparent__';
export const TRACESTATE_KEY = '__otel_tracestate__';

/**
 * The arguments of an accepted run: written once when it is accepted, shown to clients as `kwargs`, read by the worker.
 * agent-api resolves every default before writing it, so that the worker has nothing left to decide.
 */
export const RunArguments = Type.Object(
  {
    /** Any JSON value; null or absent with `command`, or when the run goes on from the thread's last checkpoint. */
    input: Type.Optional(Type.Unknown()),
    command: Type.Optional(Type.Union([RunCommand, Type.Null()])),
    config: Type.Object({
      /**
       * The merged values of the assistant and the caller, with `graph_id`, `assistant_id`, `thread_id` and `run_id`;
       * with `checkpoint_id` and `checkpoint_ns` when the run starts from an earlier checkpoint.
       */
      configurable: JsonObject,
      metadata: Type.Optional(JsonObject),
      tags: Type.Optional(Type.Array(Type.String())),
      recursion_limit: Type.Optional(Type.Integer({ minimum: 1 })),
    }),
    context: Type.Optional(Type.Unknown()),
    /** Never empty: the default is `["values"]`. */
    stream_mode: Type.Array(StreamMode, { minItems: 1 }),
    /**
     * `v2` when the run emits events of the event protocol. A worker that does not know the field emits those of
     * `stream_mode`.
     */
    event_protocol: Type.Optional(Type.Literal('v2')),
    interrupt_before: Type.Optional(Type.Union([InterruptPoints, Type.Null()])),
    interrupt_after: Type.Optional(Type.Union([InterruptPoints, Type.Null()])),
    webhook: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    feedback_keys: Type.Optional(Type.Union([Type.Array(Type.String()), Type.Null()])),
    /** True for a stateless run whose thread is not kept: it runs without a checkpointer. */
    temporary: Type.Boolean(),
    /** True when events of subgraphs are streamed too. */
    subgraphs: Type.Boolean(),
    /** True when events stay readable for RESUMABLE_STREAM_TTL_SECONDS after the run's last one. */
    resumable: Type.Boolean(),
    checkpoint_during: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
    durability: Durability,
  },
  { $id: 'RunArguments' },
);
export type RunArguments = Static<typeof RunArguments>;

export const runArgumentsExample: RunArguments = {
  input: { messages: [{ role: 'human', content: 'hi' }] },
  command: null,
  config: {
    configurable: {
      graph_id: 'agent',
      assistant_id: 'fe096781-5601-53d2-b2f6-0d3403f7e9ca',
      thread_id: '0199f0a4-7d3c-7c55-9f0e-3d9f2b6f1a10',
      run_id: '0199f0a4-7d3d-7f01-8a43-0c2d0c5b7e21',
    },
    metadata: {},
  },
  stream_mode: ['values'],
  interrupt_before: null,
  interrupt_after: null,
  webhook: null,
  feedback_keys: null,
  temporary: false,
  subgraphs: false,
  resumable: false,
  durability: 'async',
};
