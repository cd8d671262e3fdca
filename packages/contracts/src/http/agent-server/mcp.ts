import Type from 'typebox';
import { defineOperation } from '../../operation.ts';
import { ErrorResponse, ServerSentEvent } from '../common.ts';

/** Bytes of a message with its files. */
const MESSAGE_BYTES_MAX = 33_554_432;

/**
 * A message of JSON-RPC 2.0. Any JSON gets an answer of JSON-RPC: what is wrong with it is an error of that protocol.
 */
const McpMessage = Type.Unsafe<unknown>({
  description:
    'A request, a notification or, in the revision 2025-11-25 and before, a response of JSON-RPC 2.0. Batches are not taken.',
  properties: {
    jsonrpc: { description: '`2.0`' },
    id: { description: 'A text or a whole number, of a request; the answer has the same.' },
    method: {
      description:
        '`tools/list`, `tools/call`, `tasks/get`, `tasks/cancel`; in 2026-07-28 also `server/discover` and `tasks/update`; before it `initialize`, `ping`, `tasks/result`, `tasks/list` and the notifications.',
    },
    params: { description: 'The parameters of the method.' },
  },
  $id: 'McpMessage',
});

const McpAnswer = Type.Object(
  {
    jsonrpc: Type.String(),
    id: Type.Optional(Type.Union([Type.String(), Type.Number(), Type.Null()])),
    result: Type.Optional(Type.Unknown()),
    error: Type.Optional(
      Type.Object({ code: Type.Integer(), message: Type.String(), data: Type.Optional(Type.Unknown()) }),
    ),
  },
  { $id: 'McpAnswer' },
);

export const callMcp = defineOperation({
  tags: ['MCP'],
  access: 'principal',
  operationId: 'callMcp',
  method: 'post',
  path: '/mcp',
  permission: {
    checkedByService: 'runs:read',
    because: '`tools/call` and answers to questions require `runs:create`, and to cancel requires `runs:update`.',
  },
  summary: 'Call a method of the Model Context Protocol: every assistant is a tool',
  headers: {
    accept: 'Names `application/json`, `text/event-stream` or both; progress and questions need the second.',
    'mcp-protocol-version': '`2026-07-28`, `2025-11-25`, `2025-06-18` or `2025-03-26`, which it is when left out.',
    'mcp-session-id': 'As `initialize` gave it: it says what the client can do.',
    'mcp-method': 'In 2026-07-28 the same as `method`.',
    'mcp-name': 'In 2026-07-28 the same as the `name` of a tool, or the `taskId`.',
  },
  body: McpMessage,
  bodyLimitBytes: MESSAGE_BYTES_MAX,
  responses: {
    200: {
      description:
        'The result or the error; calls that report progress or ask the user answer with server-sent events.',
      schema: McpAnswer,
      otherContentTypes: { 'text/event-stream': ServerSentEvent },
    },
    202: { description: 'A notification, or the answer to a question, was taken.' },
    400: { description: 'The message, its version or its headers are not valid.', schema: McpAnswer },
    403: { description: 'A page of this origin may not call, or the caller may not do this.', schema: ErrorResponse },
    404: { description: 'In 2026-07-28: there is no such method.', schema: McpAnswer },
  },
  examples: { body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } },
});

export const MCP_OPERATIONS = [callMcp];
