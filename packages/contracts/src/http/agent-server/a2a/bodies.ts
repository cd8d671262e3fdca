import Type, { type Static } from 'typebox';
import { JsonObject } from '../../../json-object.ts';

/**
 * A call of JSON-RPC 2.0. Any JSON gets an answer of JSON-RPC: what is wrong with it is an error of that protocol, and
 * none of HTTP.
 */
export const A2aCall = Type.Unsafe<unknown>({
  description: 'A request of JSON-RPC 2.0.',
  properties: {
    jsonrpc: { description: '`2.0`' },
    id: { description: 'A text or a whole number; the answer has the same.' },
    method: {
      description:
        'A method of A2A 1.0 (`SendMessage`, `SendStreamingMessage`, `GetTask`, `ListTasks`, `CancelTask`, `SubscribeToTask`, `GetExtendedAgentCard`, `CreateTaskPushNotificationConfig` and its siblings) or of 0.3 (`message/send`, `message/stream`, `tasks/get`, `tasks/cancel`, `tasks/resubscribe`, `tasks/pushNotificationConfig/set` and its siblings, `agent/getAuthenticatedExtendedCard`).',
    },
    params: { description: 'The parameters of the method.' },
  },
  $id: 'A2aCall',
});

export const A2aAnswer = Type.Object(
  {
    jsonrpc: Type.String(),
    id: Type.Union([Type.String(), Type.Number(), Type.Null()]),
    result: Type.Optional(Type.Unknown()),
    error: Type.Optional(
      Type.Object({ code: Type.Integer(), message: Type.String(), data: Type.Optional(Type.Unknown()) }),
    ),
  },
  { $id: 'A2aAnswer' },
);
export type A2aAnswer = Static<typeof A2aAnswer>;

/** An error over HTTP, in the form of A2A and with the `detail` of every error of the agent server. */
export const A2aHttpError = Type.Object(
  {
    error: Type.Object({
      code: Type.Integer({ description: 'The status of the answer.' }),
      status: Type.String(),
      message: Type.String(),
      details: Type.Array(JsonObject),
    }),
    detail: Type.String(),
  },
  { $id: 'A2aHttpError' },
);

/** An error of 0.3 over HTTP: that of its JSON-RPC, with the `detail` of every error of the agent server. */
export const A2aV03HttpError = Type.Object(
  {
    code: Type.Integer({ description: 'The code of JSON-RPC.' }),
    message: Type.String(),
    data: Type.Optional(Type.Array(JsonObject)),
    detail: Type.String(),
  },
  { $id: 'A2aV03HttpError' },
);

export const A2aSendRequest = Type.Object(
  {
    message: Type.Unsafe<Record<string, unknown>>({
      ...JsonObject,
      description:
        'An `A2aMessage`. With the `taskId` of a task that waits for input it is the answer; with the `contextId` of a thread it continues that.',
    }),
    configuration: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        ...JsonObject,
        description:
          '`returnImmediately`, `historyLength`, `acceptedOutputModes` and `taskPushNotificationConfig`; by default the answer waits until the task ends or needs input.',
      }),
    ),
  },
  { $id: 'A2aSendRequest' },
);

/** A message in the form that 0.3 has over HTTP: the JSON of its protocol buffers. */
export const A2aSendRequestV03 = Type.Object(
  {
    message: Type.Unsafe<Record<string, unknown>>({
      ...JsonObject,
      description: 'A message with its parts in `content`, as the protocol buffers of 0.3 have it.',
    }),
    configuration: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        ...JsonObject,
        description:
          '`blocking`, `historyLength`, `acceptedOutputModes` and `pushNotification`. Without it the answer waits until the task ends or needs input; with it that takes `blocking: true`.',
      }),
    ),
  },
  { $id: 'A2aSendRequestV03' },
);

/** A push notification configuration in the form that 0.3 has over HTTP. */
export const A2aPushConfigRequestV03 = Type.Object(
  {
    pushNotificationConfig: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        ...JsonObject,
        description: '`id`, `url`, `token` and `authentication` with `schemes` and `credentials`.',
      }),
    ),
    config: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        ...JsonObject,
        description: 'An object with `pushNotificationConfig`, as some clients send it.',
      }),
    ),
  },
  { $id: 'A2aPushConfigRequestV03' },
);

export const A2aPushConfigRequest = Type.Object(
  {
    id: Type.Optional(
      Type.String({
        maxLength: 512,
        description: 'The id of the configuration, which replaces the one that has it. Left out: the server chooses.',
      }),
    ),
    url: Type.String({ description: 'An absolute URL that the server may reach.' }),
    token: Type.Optional(Type.String({ description: 'Sent back as `X-A2A-Notification-Token`.' })),
    authentication: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        ...JsonObject,
        description: '`scheme` and `credentials` of the `Authorization` header.',
      }),
    ),
  },
  { $id: 'A2aPushConfigRequest' },
);

const historyLength = Type.Optional(
  Type.Integer({ minimum: 0, description: 'The newest messages of the history to show; 0 leaves it out.' }),
);

export const A2aTaskQuery = Type.Object({ historyLength });

export const A2aTaskListQuery = Type.Object({
  contextId: Type.Optional(Type.String({ description: 'Only tasks of this thread.' })),
  status: Type.Optional(Type.String({ description: 'Only tasks in this state, as `TASK_STATE_COMPLETED`.' })),
  pageSize: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
  pageToken: Type.Optional(Type.String({ description: '`nextPageToken` of the page before.' })),
  historyLength,
  statusTimestampAfter: Type.Optional(
    Type.String({ description: 'Only tasks whose status changed at this time or later.' }),
  ),
  includeArtifacts: Type.Optional(Type.Boolean({ default: false })),
});
