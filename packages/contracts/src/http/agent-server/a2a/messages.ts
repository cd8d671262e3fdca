import Type, { type Static } from 'typebox';
import { JsonObject } from '../../../json-object.ts';
import { stringEnum } from '../parts.ts';

/** The messages of A2A 1.0 as JSON. Fields that are not set are left out. */

/** One piece of content: exactly one of `text`, `raw`, `url` and `data` is set. */
export const A2aPart = Type.Object(
  {
    text: Type.Optional(Type.String()),
    raw: Type.Optional(Type.String({ description: 'The content of a file, in base64.' })),
    url: Type.Optional(Type.String({ description: 'Where a file is. The server does not fetch it.' })),
    data: Type.Optional(Type.Unknown({ description: 'Any JSON.' })),
    mediaType: Type.Optional(Type.String()),
    filename: Type.Optional(Type.String()),
    metadata: Type.Optional(JsonObject),
  },
  { $id: 'A2aPart' },
);
export type A2aPart = Static<typeof A2aPart>;

const A2aRole = stringEnum(['ROLE_USER', 'ROLE_AGENT']);

export const A2aMessage = Type.Object(
  {
    messageId: Type.String(),
    role: A2aRole,
    parts: Type.Array(A2aPart),
    contextId: Type.Optional(Type.String()),
    taskId: Type.Optional(Type.String()),
    metadata: Type.Optional(JsonObject),
    extensions: Type.Optional(Type.Array(Type.String())),
    referenceTaskIds: Type.Optional(Type.Array(Type.String())),
  },
  { $id: 'A2aMessage' },
);
export type A2aMessage = Static<typeof A2aMessage>;

export const A2aTaskState = stringEnum([
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_AUTH_REQUIRED',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
]);
export type A2aTaskState = Static<typeof A2aTaskState>;

export const A2aTaskStatus = Type.Object(
  {
    state: A2aTaskState,
    message: Type.Optional(A2aMessage),
    timestamp: Type.String({ format: 'date-time' }),
  },
  { $id: 'A2aTaskStatus' },
);
export type A2aTaskStatus = Static<typeof A2aTaskStatus>;

export const A2aArtifact = Type.Object(
  {
    artifactId: Type.String(),
    name: Type.Optional(Type.String()),
    description: Type.Optional(Type.String()),
    parts: Type.Array(A2aPart),
  },
  { $id: 'A2aArtifact' },
);
export type A2aArtifact = Static<typeof A2aArtifact>;

/** A task: the runs that one message began, with those that continued them after an interrupt. */
export const A2aTask = Type.Object(
  {
    id: Type.String(),
    contextId: Type.String({ description: 'The thread.' }),
    status: A2aTaskStatus,
    artifacts: Type.Optional(Type.Array(A2aArtifact)),
    history: Type.Optional(Type.Array(A2aMessage)),
  },
  { $id: 'A2aTask' },
);
export type A2aTask = Static<typeof A2aTask>;

const A2aStatusUpdate = Type.Object({
  taskId: Type.String(),
  contextId: Type.String(),
  status: A2aTaskStatus,
});

const A2aArtifactUpdate = Type.Object({
  taskId: Type.String(),
  contextId: Type.String(),
  artifact: A2aArtifact,
  append: Type.Optional(Type.Boolean()),
  lastChunk: Type.Optional(Type.Boolean()),
});

/** One event of a stream, and the body of a push notification: one of its fields is set. */
export const A2aStreamEvent = Type.Object(
  {
    task: Type.Optional(A2aTask),
    message: Type.Optional(A2aMessage),
    statusUpdate: Type.Optional(A2aStatusUpdate),
    artifactUpdate: Type.Optional(A2aArtifactUpdate),
  },
  { $id: 'A2aStreamEvent' },
);
export type A2aStreamEvent = Static<typeof A2aStreamEvent>;

export const A2aPushConfig = Type.Object(
  {
    id: Type.String(),
    taskId: Type.String(),
    url: Type.String(),
    token: Type.Optional(Type.String({ description: 'Sent as `X-A2A-Notification-Token`.' })),
    authentication: Type.Optional(Type.Object({ scheme: Type.String(), credentials: Type.Optional(Type.String()) })),
  },
  { $id: 'A2aPushConfig' },
);
export type A2aPushConfig = Static<typeof A2aPushConfig>;

export const A2aTaskPage = Type.Object(
  {
    tasks: Type.Array(A2aTask),
    nextPageToken: Type.String({ description: 'Empty on the last page.' }),
    pageSize: Type.Integer(),
    totalSize: Type.Integer({ description: 'Exact up to 10,000.' }),
  },
  { $id: 'A2aTaskPage' },
);
export type A2aTaskPage = Static<typeof A2aTaskPage>;
