import Type, { type Static } from 'typebox';
import { defineCreation } from '../../idempotency.ts';
import { JsonObject } from '../../json-object.ts';
import { defineOperation } from '../../operation.ts';
import { Nullable, ServerSentEvent } from '../common.ts';
import { stringEnum } from './parts.ts';
import { EXAMPLE_THREAD_ID, THREAD_PARAMS } from './threads.ts';

/** Shapes and operations of the event protocol (version 2); `@langchain/protocol` has the types of its clients. */

const PROTOCOL_CHANNELS = [
  'values',
  'updates',
  'messages',
  'tools',
  'lifecycle',
  'input',
  'checkpoints',
  'tasks',
  'custom',
] as const;

const Channel = Type.String({
  pattern: `^(?:${PROTOCOL_CHANNELS.join('|')}|custom:[\\s\\S]+)$`,
  description: `One of ${PROTOCOL_CHANNELS.join(', ')}, or \`custom:\` and the name of a custom event.`,
});
const Namespace = Type.Array(Type.String({ maxLength: 1_000 }), { maxItems: 100 });
/** Sequence numbers are safe integers of JavaScript. */
const Sequence = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

const filterFields = {
  channels: Type.Array(Channel, { minItems: 1, maxItems: 100 }),
  namespaces: Type.Optional(
    Type.Array(Namespace, {
      maxItems: 1_000,
      description:
        'Namespaces to get events of, with those below them. Default: all. A segment without `:` is any task of that node.',
    }),
  ),
  depth: Type.Optional(
    Type.Integer({ minimum: 0, description: 'How far below the namespaces events may be. Default: however far.' }),
  ),
  since: Type.Optional({
    ...Sequence,
    description: 'The last event that the client has, by its `seq`. Default: everything that is kept comes first.',
  }),
};

export const ProtocolEventStreamRequest = Type.Object(filterFields, {
  $id: 'ProtocolEventStreamRequest',
  additionalProperties: false,
});
export type ProtocolEventStreamRequest = Static<typeof ProtocolEventStreamRequest>;

export const ProtocolCommand = Type.Object(
  {
    id: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'Comes back in the response.' }),
    method: Type.String(),
    params: Type.Optional(JsonObject),
  },
  { $id: 'ProtocolCommand' },
);
export type ProtocolCommand = Static<typeof ProtocolCommand>;

export const ProtocolErrorCode = stringEnum([
  'invalid_argument',
  'unknown_command',
  'unknown_error',
  'no_such_run',
  'no_such_subscription',
  'no_such_namespace',
  'no_such_interrupt',
  'no_such_checkpoint',
  'permission_denied',
  'not_supported',
]);
export type ProtocolErrorCode = Static<typeof ProtocolErrorCode>;

const ResponseMeta = Type.Object({
  thread_id: Type.Optional(Type.String()),
  applied_through_seq: Type.Optional({
    ...Sequence,
    description: 'The newest event of the thread when the command was answered.',
  }),
});

export const ProtocolSuccess = Type.Object(
  { type: Type.Literal('success'), id: Sequence, result: JsonObject, meta: Type.Optional(ResponseMeta) },
  { $id: 'ProtocolSuccess' },
);
export type ProtocolSuccess = Static<typeof ProtocolSuccess>;

export const ProtocolError = Type.Object(
  {
    type: Type.Literal('error'),
    id: Nullable(Sequence),
    error: ProtocolErrorCode,
    message: Type.String(),
    detail: Type.Optional(Type.String({ description: 'The message again, where the HTTP status says of an error.' })),
    meta: Type.Optional(ResponseMeta),
  },
  { $id: 'ProtocolError' },
);
export type ProtocolError = Static<typeof ProtocolError>;

const refused = {
  description: 'The request is not as it should be.',
  schema: ProtocolError,
  example: {
    type: 'error',
    id: null,
    error: 'invalid_argument',
    message: 'method is missing',
    detail: 'method is missing',
  },
};

const tags = ['Event streaming'];

export const sendCommand = defineCreation('runs', {
  tags,
  access: 'principal',
  operationId: 'sendCommand',
  method: 'post',
  path: '/threads/{thread_id}/commands',
  permission: 'runs:read',
  summary: 'Send a command of the event protocol: start or resume a run, read state, fork',
  params: THREAD_PARAMS,
  body: ProtocolCommand,
  responses: {
    200: {
      description:
        'The response to the command, also when that is an error. Commands that start runs require `runs:create` besides.',
      schema: Type.Union([ProtocolSuccess, ProtocolError]),
      example: {
        type: 'success',
        id: 1,
        result: { run_id: '019aa3b0-6f0c-7e62-b8f5-4d9f4c0c7a11' },
        meta: { thread_id: EXAMPLE_THREAD_ID, applied_through_seq: 1_795_206_692_697_000 },
      },
    },
    400: refused,
  },
  examples: {
    params: { thread_id: EXAMPLE_THREAD_ID },
    body: {
      id: 1,
      method: 'run.start',
      params: { assistant_id: 'echo', input: { messages: [{ role: 'user', content: 'hi' }] } },
    },
  },
});

export const streamEvents = defineOperation({
  tags,
  access: 'principal',
  operationId: 'streamEvents',
  method: 'post',
  path: '/threads/{thread_id}/stream/events',
  permission: 'runs:read',
  summary: 'Stream the events of a thread by channel and namespace, until the client leaves',
  params: THREAD_PARAMS,
  body: ProtocolEventStreamRequest,
  responses: {
    200: {
      description:
        'Server-sent events named for their methods, each the JSON of `{type: "event", event_id, seq, method, params}`. The thread need not exist yet. `gap` stands where events are missing.',
      contentType: 'text/event-stream',
      schema: ServerSentEvent,
      example: {
        event: 'lifecycle',
        data: '{"type":"event","event_id":"1795206692697000","seq":1795206692697000,"method":"lifecycle","params":{"namespace":[],"timestamp":1795206692697,"data":{"event":"running","graph_name":"echo"}}}',
        id: '1795206692697000',
      },
    },
    400: refused,
  },
  examples: {
    params: { thread_id: EXAMPLE_THREAD_ID },
    body: { channels: ['values', 'messages', 'lifecycle', 'input'], namespaces: [[]], depth: 1 },
  },
});

export const EVENT_PROTOCOL_OPERATIONS = [sendCommand, streamEvents];
