/** Messages about runs. */
import Type, { type Static } from 'typebox';
import { USAGE_NAME_MAX, USAGE_NAMES_MAX } from '../usage-limits.ts';
import { ErrorBody, form, notice, Use } from './message.ts';
import { ProjectFields, ProjectValue } from './values.ts';

const Nodes = Type.Union([Type.Literal('*'), Type.Array(Type.String())]);

export const ExecutionRequest = form(
  'ExecutionRequest',
  Type.Object({
    runId: Type.String(),
    threadId: Type.String(),
    assistantId: Type.String(),
    graphId: Type.String(),
    attempt: Type.Integer({
      description: 'Counted from 1. A later attempt goes on from the checkpoints of the earlier ones.',
    }),
    isThreadNew: Type.Optional(
      Type.Boolean({ description: 'True when the thread has no checkpoints: the run does not ask for them.' }),
    ),
    input: Type.Optional(ProjectValue),
    command: Type.Optional(
      Type.Object({
        resume: Type.Optional(ProjectValue),
        update: Type.Optional(ProjectValue),
        goto: Type.Optional(ProjectValue),
      }),
    ),
    config: Type.Object(
      {
        configurable: ProjectFields,
        tags: Type.Optional(Type.Array(Type.String())),
        recursion_limit: Type.Optional(Type.Number()),
        max_concurrency: Type.Optional(
          Type.Number({ description: 'Maximum number of tasks of one step that run at the same time.' }),
        ),
        run_name: Type.Optional(
          Type.String({ description: "Name of the run in traces and `events`; default: its graph's name." }),
        ),
        metadata: Type.Optional(ProjectFields),
      },
      { description: 'The LangGraph config; thread, run and checkpoint ids are in `configurable`.' },
    ),
    context: Type.Optional(ProjectValue),
    streamModes: Type.Array(Type.String(), {
      description:
        'Those the client requested: `values`, `updates`, `messages`, `messages-tuple`, `custom`, `debug`, `events`, `tasks`, `checkpoints`.',
    }),
    streamSubgraphs: Type.Boolean(),
    emitsProtocolEvents: Type.Optional(
      Type.Boolean({
        description:
          'True when the run emits events of the event protocol (version 2), those of subgraphs too, instead of `streamModes`.',
      }),
    ),
    interruptBefore: Type.Optional(Nodes),
    interruptAfter: Type.Optional(Nodes),
    durability: Type.Union([Type.Literal('sync'), Type.Literal('async'), Type.Literal('exit')]),
    tracing: Type.Optional(
      Type.Object(
        {
          project: Type.Optional(Type.String()),
          exampleId: Type.Optional(Type.String()),
          parent: Type.Optional(
            Type.Object(
              { trace: Type.String(), baggage: Type.Optional(Type.String()) },
              { description: "The caller's own trace, as LangSmith's headers have it, that the run goes on below." },
            ),
          ),
        },
        {
          description:
            "Destination of the trace, if the project's environment enables tracing; default: the environment's.",
        },
      ),
    ),
    traceparent: Type.Optional(
      Type.String({
        description: 'W3C place of the run in a trace: what its code asks its own server for carries it.',
      }),
    ),
    spans: Type.Optional(
      Type.Object(
        {
          parentSpanId: Type.String({ description: "Id of the span that the run's own are below." }),
          withContent: Type.Boolean({
            description: 'True when they carry prompts, answers, and arguments and results of tools.',
          }),
        },
        { description: 'Asks for the spans of the run; left out when nobody wants them.' },
      ),
    ),
  }),
);
/** One attempt of an accepted run, as a graph host executes it. */
export type ExecutionRequest = Static<typeof ExecutionRequest>;

const SpanId = Type.String({ pattern: '^[0-9a-f]{16}$' });
const RunSpan = form(
  'RunSpan',
  Type.Object({
    spanId: SpanId,
    parentSpanId: SpanId,
    name: Type.String(),
    kind: Type.Union([Type.Literal('internal'), Type.Literal('client')]),
    startMs: Type.Number({ description: 'Milliseconds since 1970, with fractions.' }),
    endMs: Type.Number(),
    attributes: Type.Record(
      Type.String(),
      Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Array(Type.String())]),
      { description: 'Named by the GenAI conventions of OpenTelemetry. Nothing in them is masked.' },
    ),
    error: Type.Optional(Type.Object({ type: Type.String(), message: Type.String() })),
  }),
);
/** A span of a run, ended: the graph, one of its nodes, or a call of a model or tool. Ids are 16 hex digits. */
export type RunSpan = Static<typeof RunSpan>;

const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const Name = Type.String({ maxLength: USAGE_NAME_MAX });
const RunUsage = form(
  'RunUsage',
  Type.Object({
    models: Type.Array(
      Type.Object({
        provider: Name,
        model: Name,
        calls: Count,
        failed: Count,
        inputTokens: Count,
        outputTokens: Count,
        cacheReadTokens: Count,
        cacheCreationTokens: Count,
        reasoningTokens: Count,
      }),
      { maxItems: USAGE_NAMES_MAX + 1, description: 'Tokens of the cache are input, and reasoning is output.' },
    ),
    tools: Type.Array(Type.Object({ name: Name, calls: Count, failed: Count }), { maxItems: USAGE_NAMES_MAX + 1 }),
  }),
);
/** The calls of models and tools that an attempt has made, all of them together. */
export type RunUsage = Static<typeof RunUsage>;

export const runsToHost = {
  'run.start': notice(
    'run.start',
    { use: Use, hasCheckpoints: Type.Boolean(), request: ExecutionRequest },
    { means: 'start an attempt of a run; it ends with `run.settled`' },
  ),
  'run.credit': notice(
    'run.credit',
    { use: Use, bytes: Type.Integer() },
    { means: 'this many more bytes of events may be sent' },
  ),
  'run.abort': notice(
    'run.abort',
    { use: Use, reason: Type.String() },
    { means: 'stop now: abort signals of nodes and tools fire' },
  ),
  'run.drain': notice('run.drain', { use: Use }, { means: 'stop at the next step boundary' }),
} as const;

const ByteCount = Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]);

export const runsToParent = {
  'run.begun': notice(
    'run.begun',
    { use: Use },
    {
      means:
        "the run's code is about to be executed, and what happens from now on may be its fault; a run that a host did not start can go on in another",
    },
  ),
  'run.events': notice(
    'run.events',
    {
      use: Use,
      events: Type.Array(Type.Tuple([Type.String(), Type.String(), Type.Integer({ minimum: 1 })]), {
        description: 'mode, event name and byte length of each',
      }),
    },
    { raw: 'their JSON texts, one after the other', means: 'events in the v1 stream form, or of the event protocol' },
  ),
  'run.spans': notice(
    'run.spans',
    { use: Use, spans: Type.Array(RunSpan) },
    {
      means: 'spans that have ended, where `request.spans` asks for them: graph, nodes, models and tools',
      mayBeDropped: true,
    },
  ),
  'run.usage': notice(
    'run.usage',
    { use: Use, usage: RunUsage },
    {
      means:
        'the models and tools that the attempt has called so far: sent before a checkpoint and before `run.settled` where it has changed, and at most once a second between them',
      mayBeDropped: true,
    },
  ),
  'run.settled': notice(
    'run.settled',
    {
      use: Use,
      kind: Type.String({ description: '`done`, `failed`, `aborted` or `drained`' }),
      valuesBytes: ByteCount,
      interruptsBytes: ByteCount,
      next: Type.Optional(Type.Array(Type.String(), { description: 'nodes that would run next' })),
      checkpointId: Type.Optional(Type.Union([Type.String(), Type.Null()])),
      error: Type.Optional(ErrorBody),
      isStillWorking: Type.Optional(
        Type.Boolean({ description: 'True when code of the run goes on, which nothing can stop.' }),
      ),
    },
    {
      raw: 'JSON texts of the values and of the interrupts, `{task id: [{id, value}]}`',
      means:
        'the attempt has ended; the interrupts are those of the newest checkpoint, however it ended; with `isStillWorking` code of the run goes on in a thread',
    },
  ),
  'run.stopped': notice(
    'run.stopped',
    { use: Use },
    { means: 'none of the code goes on any more that a settled run had left behind' },
  ),
} as const;
