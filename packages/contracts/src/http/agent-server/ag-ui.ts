import Type, { type Static } from 'typebox';
import { JsonObject } from '../../json-object.ts';
import { defineOperation } from '../../operation.ts';
import { ErrorResponse, OptionalNullable, ServerSentEvent } from '../common.ts';
import { stringEnum } from './parts.ts';

/** Shapes and operations of AG-UI, the protocol of pages that show an agent; `@ag-ui/core` has the types of its clients. */

/** Bytes of a request, with the files of its messages. */
const INPUT_BYTES_MAX = 33_554_432;

/** Ids are the client's: any text. */
const ClientId = (description: string) => Type.String({ minLength: 1, maxLength: 1_000, description });

const ToolCall = Type.Object({
  id: Type.String(),
  function: Type.Object({ name: Type.String(), arguments: Type.String() }),
});

export const AgUiMessage = Type.Object(
  {
    id: Type.String(),
    role: Type.String({
      description:
        'user, assistant, system, developer or tool. Messages of other roles (reasoning, activity) are the client’s own and left out.',
    }),
    content: Type.Optional(
      Type.Union([Type.String(), Type.Array(Type.Object({ type: Type.String() })), JsonObject, Type.Null()], {
        description: 'A text, or parts: text, image, audio, video, document. URLs are not fetched.',
      }),
    ),
    name: OptionalNullable(Type.String()),
    toolCalls: OptionalNullable(Type.Array(ToolCall)),
    toolCallId: OptionalNullable(Type.String({ description: 'The call that a message of the role tool answers.' })),
    error: OptionalNullable(Type.String()),
  },
  { $id: 'AgUiMessage' },
);
export type AgUiMessage = Static<typeof AgUiMessage>;

const Tool = Type.Object({
  name: Type.String(),
  description: OptionalNullable(Type.String()),
  parameters: Type.Optional(Type.Unknown({ description: 'A JSON Schema.' })),
});

const ContextEntry = Type.Object({ description: Type.String(), value: Type.String() });

const ResumeEntry = Type.Object({
  interruptId: Type.String(),
  status: stringEnum(['resolved', 'cancelled']),
  payload: Type.Optional(Type.Unknown()),
});

export const AgUiInput = Type.Object(
  {
    threadId: ClientId('The conversation. A UUID is the id of the thread; of other texts each user has their own.'),
    runId: ClientId('The run: a request with the `threadId` and `runId` of an earlier one joins that.'),
    protocolVersion: OptionalNullable(
      Type.String({ description: '`1.0` of clients that know what came with that version.' }),
    ),
    parentRunId: OptionalNullable(Type.String()),
    messages: Type.Array(AgUiMessage, {
      description: 'The conversation so far. Those that the thread has already count once.',
    }),
    tools: OptionalNullable(Type.Array(Tool, { description: 'Tools that the client executes.' })),
    context: OptionalNullable(Type.Array(ContextEntry)),
    state: Type.Optional(Type.Unknown({ description: 'The state as the client has it: what it changed is input.' })),
    forwardedProps: Type.Optional(
      Type.Unknown({
        description:
          'Of an object `command` (`resume`, `update`, `goto`) and `config` are those of a run; `emitRawEvents: true` asks for events of LangGraph as `RAW`. The rest is for the graph.',
      }),
    ),
    resume: OptionalNullable(
      Type.Array(ResumeEntry, { description: 'Answers to the interrupts of the run before, all of them.' }),
    ),
  },
  { $id: 'AgUiInput' },
);
export type AgUiInput = Static<typeof AgUiInput>;

export const AgUiJoinQuery = Type.Object({
  threadId: ClientId('As in the request that began the run.'),
  runId: ClientId('As in the request that began the run.'),
  protocolVersion: Type.Optional(Type.String()),
  emitRawEvents: Type.Optional(Type.String({ description: '`true` asks for events of LangGraph as `RAW`.' })),
});
export type AgUiJoinQuery = Static<typeof AgUiJoinQuery>;

const assistant_id = Type.String({ minLength: 1, description: 'An assistant, or a graph for its default assistant.' });

const EXAMPLE_IDS = { threadId: 'a-conversation', runId: 'its-first-run' };

const events = {
  200: {
    description:
      'Server-sent events without names, each the JSON of one event of AG-UI: `RUN_STARTED` first, `RUN_FINISHED` or `RUN_ERROR` last. Lines end in LF.',
    contentType: 'text/event-stream',
    schema: ServerSentEvent,
    headers: { 'content-location': 'The path of the run in this API.' },
  },
  404: { description: 'No such assistant, thread or run, or the caller may not see it.', schema: ErrorResponse },
};

const tags = ['AG-UI'];
const ofAgUi = {
  access: 'principal',
  path: '/agui/{assistant_id}',
  headers: { 'last-event-id': 'The id of the last event that the client has: only later ones are sent.' },
  params: Type.Object({ assistant_id }),
} as const;

export const runAgUi = defineOperation({
  ...ofAgUi,
  tags,
  operationId: 'runAgUi',
  method: 'post',
  permission: 'runs:create',
  summary: 'Run an assistant for a client of AG-UI, or join a run, and stream its events',
  body: AgUiInput,
  bodyLimitBytes: INPUT_BYTES_MAX,
  responses: {
    ...events,
    409: { description: 'Another answer to the interrupt is being worked on.', schema: ErrorResponse },
    422: { description: 'The input is not as it should be.', schema: ErrorResponse },
  },
  examples: {
    params: { assistant_id: 'agent' },
    body: { ...EXAMPLE_IDS, messages: [{ id: 'm1', role: 'user', content: 'Hello' }] },
  },
});

export const joinAgUi = defineOperation({
  ...ofAgUi,
  tags,
  operationId: 'joinAgUi',
  method: 'get',
  permission: 'runs:read',
  summary: 'Join a run of AG-UI and stream its events',
  query: AgUiJoinQuery,
  responses: {
    ...events,
    422: { description: 'The query is not as it should be.', schema: ErrorResponse },
  },
  examples: { params: { assistant_id: 'agent' }, query: EXAMPLE_IDS },
});

export const AG_UI_OPERATIONS = [runAgUi, joinAgUi];
