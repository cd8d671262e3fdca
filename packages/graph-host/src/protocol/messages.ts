/**
 * Every message between a parent and a graph host. `docs/services/graph-host-protocol.md` explains the same in prose.
 *
 * A message is `u32 header length | header JSON | raw bytes`. The header has `t` (type); a message that expects an
 * answer has an `id`, and its answer is `{t: "answer", id, ok | error}`. `use` names one use of a graph (a run or a
 * state request): the parent assigns the numbers, and every operation on checkpoints and store carries the number of
 * its use.
 */
import Type, { type Static, type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';

export const PROTOCOL_VERSION = 1;

const Id = Type.Integer({ minimum: 1 });
const Use = Type.Integer({ minimum: 1 });
const Json = Type.Unknown();
const JsonObject = Type.Record(Type.String(), Json);
const ValueRef = Type.Tuple([Type.String(), Type.Integer({ minimum: 0 })]);
const CheckpointKey = Type.Object({ threadId: Type.String(), namespace: Type.String(), checkpointId: Type.String() });

const request = <N extends string, T extends Record<string, TSchema>>(type: N, properties: T) =>
  Type.Object({ t: Type.Literal(type), id: Id, ...properties });
const notice = <N extends string, T extends Record<string, TSchema>>(type: N, properties: T) =>
  Type.Object({ t: Type.Literal(type), ...properties });

export const ErrorBody = Type.Object({
  /**
   * A backend's `fenced`, `unavailable`, `too_large`, `invalid`; or a host's `load`, `unsupported`, `not_found`,
   * `bad_request`, `failed`.
   */
  kind: Type.String(),
  /** Class name of the error, as clients see it. */
  error: Type.String(),
  message: Type.String(),
  /** The graph that failed to load, when one did. */
  graphId: Type.Optional(Type.String()),
  /** The superstep of a state update that failed, counted from 0, and its node. */
  step: Type.Optional(
    Type.Object({ superstep: Type.Integer({ minimum: 0 }), asNode: Type.Union([Type.String(), Type.Null()]) }),
  ),
});
export type ErrorBody = Static<typeof ErrorBody>;

const Answer = Type.Object({
  t: Type.Literal('answer'),
  id: Id,
  ok: Type.Optional(Json),
  error: Type.Optional(ErrorBody),
});

const ExportSource = Type.Object({ file: Type.String(), symbol: Type.String() });

const ExecutionRequestBody = Type.Object({
  runId: Type.String(),
  threadId: Type.String(),
  assistantId: Type.String(),
  graphId: Type.String(),
  attempt: Type.Integer(),
  isThreadNew: Type.Optional(Type.Boolean()),
  input: Type.Optional(Json),
  command: Type.Optional(JsonObject),
  config: JsonObject,
  context: Type.Optional(Json),
  streamModes: Type.Array(Type.String()),
  streamSubgraphs: Type.Boolean(),
  emitsProtocolEvents: Type.Optional(Type.Boolean()),
  interruptBefore: Type.Optional(Json),
  interruptAfter: Type.Optional(Json),
  durability: Type.String(),
  traceparent: Type.Optional(Type.String()),
  spans: Type.Optional(Type.Object({ parentSpanId: Type.String(), withContent: Type.Boolean() })),
});

const SpanId = Type.String({ pattern: '^[0-9a-f]{16}$' });
const RunSpan = Type.Object({
  spanId: SpanId,
  parentSpanId: SpanId,
  name: Type.String(),
  kind: Type.Union([Type.Literal('internal'), Type.Literal('client')]),
  startMs: Type.Number(),
  endMs: Type.Number(),
  attributes: Type.Record(
    Type.String(),
    Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Array(Type.String())]),
  ),
  error: Type.Optional(Type.Object({ type: Type.String(), message: Type.String() })),
});

/** Messages from the parent to the host. */
const toHost = {
  answer: Answer,
  init: request('init', {
    project: Type.Object({
      directory: Type.String(),
      graphs: Type.Array(
        Type.Object({
          graphId: Type.String(),
          file: Type.String(),
          symbol: Type.String(),
          description: Type.Optional(Type.String()),
        }),
      ),
      env: Type.Record(Type.String(), Type.String()),
      /** Classes that stored values may become again, beside those that only hold data; true for all. */
      revivableModules: Type.Union([Type.Literal(true), Type.Array(Type.Array(Type.String()))]),
    }),
    /** Address of the deployment's own server; null when there is none. */
    loopback: Type.Union([Type.Object({ socketPath: Type.String(), token: Type.String() }), Type.Null()]),
    /** URL of the deployment for clients; null when there is none. */
    publicUrl: Type.Union([Type.String(), Type.Null()]),
    limits: Type.Object({
      creditBytes: Type.Integer(),
      bufferBytes: Type.Integer(),
      eventBytes: Type.Integer(),
      logBytesPerSecond: Type.Integer(),
    }),
  }),
  ping: request('ping', {}),
  'app.serve': request('app.serve', {
    app: ExportSource,
    socketPath: Type.String(),
  }),
  'auth.load': request('auth.load', { source: ExportSource }),
  'auth.authenticate': request('auth.authenticate', {
    source: ExportSource,
    request: Type.Object({
      method: Type.String(),
      url: Type.String(),
      headers: Type.Array(Type.Tuple([Type.String(), Type.String()])),
    }),
  }),
  /** Raw bytes, here and in the answer: JSON text of the value. */
  'auth.authorize': request('auth.authorize', {
    source: ExportSource,
    request: Type.Object({ resource: Type.String(), action: Type.String(), user: JsonObject }),
  }),
  'encryption.load': request('encryption.load', { source: ExportSource }),
  'encryption.context': request('encryption.context', {
    source: ExportSource,
    request: Type.Object({
      user: Type.Union([JsonObject, Type.Null()]),
      method: Type.String(),
      url: Type.String(),
      headers: Type.Array(Type.Tuple([Type.String(), Type.String()])),
    }),
  }),
  /** Raw bytes, here and in the answer: the plaintext, and what it is encrypted as. */
  'encryption.encrypt': request('encryption.encrypt', { source: ExportSource, metadata: JsonObject }),
  /** The answer has the length of the plaintext; its raw bytes are the plaintext, and the replacement if any. */
  'encryption.decrypt': request('encryption.decrypt', { source: ExportSource, metadata: JsonObject }),
  /** Raw bytes: JSON text of a list of `{model, field, data}`; in the answer, of a list of `{data}` and `{error}`. */
  'encryption.json': request('encryption.json', {
    source: ExportSource,
    action: Type.Union([Type.Literal('encrypt'), Type.Literal('decrypt')]),
    metadata: JsonObject,
  }),
  'graph.draw': request('graph.draw', { request: JsonObject }),
  'graph.input_keys': request('graph.input_keys', { request: JsonObject }),
  'graph.schemas': request('graph.schemas', { request: JsonObject }),
  'graph.subgraphs': request('graph.subgraphs', { request: JsonObject }),
  'graph.store_schemas': request('graph.store_schemas', {
    request: Type.Object({
      sourceTimeoutMs: Type.Integer({ minimum: 1 }),
      inBackground: Type.Optional(Type.Boolean()),
    }),
  }),
  /** The answer has the length of each vector, and the vectors as raw bytes (`vectors.ts`). */
  'embed.texts': request('embed.texts', {
    source: JsonObject,
    texts: Type.Array(Type.String()),
    as: Type.Union([Type.Literal('documents'), Type.Literal('query')]),
  }),
  'run.start': notice('run.start', { use: Use, hasCheckpoints: Type.Boolean(), request: ExecutionRequestBody }),
  'run.credit': notice('run.credit', { use: Use, bytes: Type.Integer() }),
  'run.abort': notice('run.abort', { use: Use, reason: Type.String() }),
  'run.drain': notice('run.drain', { use: Use }),
  'state.get': request('state.get', { use: Use, request: JsonObject }),
  'state.history': request('state.history', { use: Use, request: JsonObject }),
  'state.update': request('state.update', { use: Use, request: JsonObject }),
  shutdown: request('shutdown', {}),
} as const;

/** Messages from the host to the parent. */
const toParent = {
  answer: Answer,
  hello: notice('hello', { protocol: Type.Integer(), language: Type.String(), runtime: Type.String() }),
  /** Says that the host is about to execute code of the run: what happens from now on may be its fault. */
  'run.begun': notice('run.begun', { use: Use }),
  /** `events` are `[mode, event name, byte length]`; the raw bytes are their JSON texts, one after the other. */
  'run.events': notice('run.events', {
    use: Use,
    events: Type.Array(Type.Tuple([Type.String(), Type.String(), Type.Integer({ minimum: 0 })])),
  }),
  /** Spans that have ended, where the request of the run asks for them. */
  'run.spans': notice('run.spans', { use: Use, spans: Type.Array(RunSpan) }),
  /** Raw bytes: JSON text of the values, then of the interrupts. */
  'run.settled': notice('run.settled', {
    use: Use,
    kind: Type.String(),
    valuesBytes: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]),
    interruptsBytes: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]),
    next: Type.Optional(Type.Array(Type.String())),
    checkpointId: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    error: Type.Optional(ErrorBody),
  }),
  'checkpoint.get': request('checkpoint.get', {
    use: Use,
    threadId: Type.String(),
    namespace: Type.String(),
    checkpointId: Type.Optional(Type.String()),
  }),
  'checkpoint.list': request('checkpoint.list', { use: Use, query: JsonObject }),
  'checkpoint.put': request('checkpoint.put', {
    use: Use,
    put: Type.Object({
      key: CheckpointKey,
      parentCheckpointId: Type.Optional(Type.String()),
      checkpoint: ValueRef,
      metadata: ValueRef,
      metadataJson: Type.Optional(JsonObject),
      channelVersions: Type.Record(Type.String(), Type.String()),
      blobs: Type.Array(
        Type.Object({ channel: Type.String(), version: Type.String(), value: Type.Optional(ValueRef) }),
      ),
      hasStreamPosition: Type.Optional(Type.Boolean()),
    }),
  }),
  'checkpoint.putWrites': request('checkpoint.putWrites', {
    use: Use,
    put: Type.Object({
      key: CheckpointKey,
      taskId: Type.String(),
      taskPath: Type.String(),
      writes: Type.Array(Type.Object({ index: Type.Integer(), channel: Type.String(), value: ValueRef })),
      hasStreamPosition: Type.Optional(Type.Boolean()),
    }),
  }),
  'checkpoint.deleteThread': request('checkpoint.deleteThread', { use: Use, threadId: Type.String() }),
  'checkpoint.channelHistories': request('checkpoint.channelHistories', {
    use: Use,
    key: CheckpointKey,
    channels: Type.Array(Type.String()),
  }),
  'store.batch': request('store.batch', { use: Use, operations: Type.Array(JsonObject) }),
  log: notice('log', {
    level: Type.Union([Type.Literal('debug'), Type.Literal('info'), Type.Literal('warn'), Type.Literal('error')]),
    message: Type.String(),
    runId: Type.Optional(Type.String()),
    threadId: Type.Optional(Type.String()),
    graphId: Type.Optional(Type.String()),
    data: Type.Optional(JsonObject),
  }),
} as const;

export type ToHost = { [K in keyof typeof toHost]: Static<(typeof toHost)[K]> };
export type ToParent = { [K in keyof typeof toParent]: Static<(typeof toParent)[K]> };

export type Check = (header: unknown) => boolean;

/** Compiles each check when the first message of its type arrives: many hosts never get messages of some types. */
function compileAll(schemas: Record<string, TSchema>): Map<string, Check> {
  return new Map(
    Object.entries(schemas).map(([type, schema]) => {
      let validator: ReturnType<typeof Compile> | undefined;
      return [
        type,
        (header) => {
          validator ??= Compile(schema);
          return validator.Check(header);
        },
      ];
    }),
  );
}

/** Return the checks of the messages that a side receives, by type. */
export const checksAtHost = (): Map<string, Check> => compileAll(toHost);
export const checksAtParent = (): Map<string, Check> => compileAll(toParent);
