import Type from 'typebox';
import { defineCreation } from '../../../idempotency.ts';
import { JsonObject } from '../../../json-object.ts';
import { defineOperation } from '../../../operation.ts';
import { A2aPushConfigRequestV03, A2aSendRequestV03, A2aTaskQuery, A2aV03HttpError } from './bodies.ts';
import { AgentCard } from './cards.ts';
import {
  ASSISTANT,
  answered,
  assistant,
  CONFIG,
  CONFIG_ID,
  events,
  MESSAGE_BYTES_MAX,
  MESSAGE_ID,
  MESSAGES,
  messageKey,
  of,
  TASK,
  task,
} from './operation-parts.ts';

/** HTTP+JSON of A2A 0.3. Its bodies are the JSON of protocol buffers, other than those of its JSON-RPC. */

const message = { role: 'ROLE_USER', messageId: MESSAGE_ID, content: [{ text: 'Hello' }] };
const body = { message, configuration: { blocking: true } };
const missing = {
  404: { description: 'There is no such task, or the caller may not see it.', schema: A2aV03HttpError },
};

export const sendA2aMessageV03 = defineCreation(MESSAGES, {
  ...of,
  operationId: 'sendA2aMessageV03',
  headers: messageKey,
  method: 'post',
  path: '/a2a/{assistant_id}/v1/message:send',
  permission: 'runs:create',
  summary: 'Send a message to an assistant, in version 0.3',
  params: ASSISTANT,
  body: A2aSendRequestV03,
  bodyLimitBytes: MESSAGE_BYTES_MAX,
  responses: answered(
    'The `task`; or the `message` alone, where the graph answers so.',
    Type.Object({ task: Type.Optional(JsonObject), message: Type.Optional(JsonObject) }),
  ),
  examples: { params: assistant, body },
});

export const streamA2aMessageV03 = defineCreation(MESSAGES, {
  ...of,
  operationId: 'streamA2aMessageV03',
  headers: messageKey,
  method: 'post',
  path: '/a2a/{assistant_id}/v1/message:stream',
  permission: 'runs:create',
  summary: 'Send a message to an assistant and follow its task, in version 0.3',
  params: ASSISTANT,
  body: A2aSendRequestV03,
  bodyLimitBytes: MESSAGE_BYTES_MAX,
  responses: events,
  examples: { params: assistant, body },
});

export const getA2aTaskV03 = defineOperation({
  ...of,
  operationId: 'getA2aTaskV03',
  method: 'get',
  path: '/a2a/{assistant_id}/v1/tasks/{task_id}',
  permission: 'runs:read',
  summary: 'A task with its artifacts, in version 0.3',
  params: TASK,
  query: A2aTaskQuery,
  responses: { ...answered('The task.', JsonObject), ...missing },
  examples: { params: task },
});

export const cancelA2aTaskV03 = defineOperation({
  ...of,
  operationId: 'cancelA2aTaskV03',
  method: 'post',
  path: '/a2a/{assistant_id}/v1/tasks/{task_id}:cancel',
  permission: 'runs:update',
  summary: 'Cancel a task, in version 0.3',
  params: TASK,
  responses: { ...answered('The task.', JsonObject), ...missing },
  examples: { params: task },
});

const subscribe = {
  ...of,
  path: '/a2a/{assistant_id}/v1/tasks/{task_id}:subscribe',
  permission: 'runs:read',
  summary: 'Follow a task that has not ended, in version 0.3',
  params: TASK,
  responses: { ...events, ...missing },
  examples: { params: task },
} as const;

export const subscribeToA2aTaskV03 = defineOperation({
  ...subscribe,
  operationId: 'subscribeToA2aTaskV03',
  method: 'get',
});
export const subscribeToA2aTaskV03Alias = defineOperation({
  ...subscribe,
  operationId: 'subscribeToA2aTaskV03Alias',
  method: 'post',
});

const configs = '/a2a/{assistant_id}/v1/tasks/{task_id}/pushNotificationConfigs';

export const createA2aPushConfigV03 = defineOperation({
  ...of,
  operationId: 'createA2aPushConfigV03',
  method: 'post',
  path: configs,
  permission: 'runs:update',
  summary: 'Have the end of a task, and each time it needs input, sent to a URL, in version 0.3',
  params: TASK,
  body: A2aPushConfigRequestV03,
  responses: { ...answered('The configuration.', JsonObject), ...missing },
  examples: {
    params: task,
    body: { pushNotificationConfig: { url: 'https://client.example.com/a2a', token: 'a-token' } },
  },
});

export const listA2aPushConfigsV03 = defineOperation({
  ...of,
  operationId: 'listA2aPushConfigsV03',
  method: 'get',
  path: configs,
  permission: 'runs:read',
  summary: 'Where the end of a task is sent, in version 0.3',
  params: TASK,
  responses: {
    ...answered(
      'All configurations of the task, on one page.',
      Type.Object({ configs: Type.Array(JsonObject), nextPageToken: Type.String() }),
    ),
    ...missing,
  },
  examples: { params: task },
});

export const getA2aPushConfigV03 = defineOperation({
  ...of,
  operationId: 'getA2aPushConfigV03',
  method: 'get',
  path: `${configs}/{config_id}`,
  permission: 'runs:read',
  summary: 'One place where the end of a task is sent, in version 0.3',
  params: CONFIG,
  responses: { ...answered('The configuration.', JsonObject), ...missing },
  examples: { params: { ...task, config_id: CONFIG_ID } },
});

export const deleteA2aPushConfigV03 = defineOperation({
  ...of,
  operationId: 'deleteA2aPushConfigV03',
  method: 'delete',
  path: `${configs}/{config_id}`,
  permission: 'runs:update',
  summary: 'Send the end of a task to a URL no more, in version 0.3',
  params: CONFIG,
  responses: { 204: { description: 'There is no such configuration any more.' }, ...missing },
  examples: { params: { ...task, config_id: CONFIG_ID } },
});

export const getExtendedAgentCardV03 = defineOperation({
  ...of,
  operationId: 'getExtendedAgentCardV03',
  method: 'get',
  path: '/a2a/{assistant_id}/v1/card',
  permission: 'runs:read',
  summary: 'The card of an assistant with the schema of its input, for clients of version 0.3',
  params: ASSISTANT,
  responses: {
    ...answered('The card.', AgentCard),
    404: { description: 'No such assistant.', schema: A2aV03HttpError },
  },
  examples: { params: assistant },
});

export const A2A_V03_OPERATIONS = [
  sendA2aMessageV03,
  streamA2aMessageV03,
  getA2aTaskV03,
  cancelA2aTaskV03,
  subscribeToA2aTaskV03,
  subscribeToA2aTaskV03Alias,
  createA2aPushConfigV03,
  listA2aPushConfigsV03,
  getA2aPushConfigV03,
  deleteA2aPushConfigV03,
  getExtendedAgentCardV03,
];
