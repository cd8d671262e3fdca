import Type from 'typebox';
import { defineCreation } from '../../../idempotency.ts';
import { defineOperation } from '../../../operation.ts';
import { ErrorResponse, ServerSentEvent } from '../../common.ts';
import {
  A2aAnswer,
  A2aCall,
  A2aHttpError,
  A2aPushConfigRequest,
  A2aSendRequest,
  A2aTaskListQuery,
  A2aTaskQuery,
} from './bodies.ts';
import { AgentCard, CardKeys } from './cards.ts';
import { A2aMessage, A2aPushConfig, A2aTask, A2aTaskPage } from './messages.ts';
import {
  ASSISTANT,
  answered,
  assistant,
  assistant_id,
  CONFIG,
  CONFIG_ID,
  events,
  MESSAGE_BYTES_MAX,
  MESSAGE_ID,
  MESSAGES,
  messageKey,
  missing,
  of,
  TASK,
  TASK_ID,
  tags,
  task,
} from './operation-parts.ts';
import { A2A_V03_OPERATIONS } from './operations-v03.ts';

const message = { role: 'ROLE_USER', messageId: MESSAGE_ID, parts: [{ text: 'Hello' }] };
const version = { 'a2a-version': '`1.0` leaves out the fields of 0.3.' };

export const getAgentCard = defineOperation({
  tags,
  access: 'public',
  operationId: 'getAgentCard',
  method: 'get',
  path: '/.well-known/agent-card.json',
  summary: 'The card by which other agents find an assistant',
  headers: version,
  query: Type.Object({ assistant_id: Type.Optional(assistant_id) }),
  responses: {
    ...answered('The card.', AgentCard),
    400: { description: 'The project has several graphs, and none was named.', schema: ErrorResponse },
    404: { description: 'No such assistant.', schema: ErrorResponse },
  },
  examples: { query: assistant },
});

export const getAssistantCard = defineOperation({
  tags,
  access: 'public',
  operationId: 'getAssistantCard',
  method: 'get',
  path: '/a2a/{assistant_id}/.well-known/agent-card.json',
  summary: 'The card of one assistant',
  headers: version,
  params: ASSISTANT,
  responses: {
    ...answered('The card.', AgentCard),
    404: { description: 'No such assistant.', schema: ErrorResponse },
  },
  examples: { params: assistant },
});

export const getPinnedAssistantCard = defineOperation({
  tags,
  access: 'public',
  operationId: 'getPinnedAssistantCard',
  method: 'get',
  path: '/a2a/{assistant_id}/1.0/.well-known/agent-card.json',
  summary: 'The card of one assistant without the fields of 0.3',
  params: ASSISTANT,
  responses: {
    ...answered('The card.', AgentCard),
    404: { description: 'No such assistant.', schema: ErrorResponse },
  },
  examples: { params: assistant },
});

export const getCardKeys = defineOperation({
  tags,
  access: 'public',
  operationId: 'getCardKeys',
  method: 'get',
  path: '/.well-known/agent-card-keys.json',
  summary: 'The keys that sign the cards of this deployment',
  responses: answered('A set of JSON Web Keys.', CardKeys),
});

export const callA2a = defineCreation(MESSAGES, {
  ...of,
  operationId: 'callA2a',
  headers: messageKey,
  method: 'post',
  path: '/a2a/{assistant_id}',
  permission: { checkedByService: 'runs:read', because: 'a method requires what its own path below requires.' },
  summary: 'Call a method of A2A by JSON-RPC, in version 1.0 or 0.3',
  params: ASSISTANT,
  body: A2aCall,
  bodyLimitBytes: MESSAGE_BYTES_MAX,
  responses: {
    200: {
      description: 'The result or the error; methods that stream answer with server-sent events.',
      schema: A2aAnswer,
      otherContentTypes: { 'text/event-stream': ServerSentEvent },
    },
  },
  examples: { params: assistant, body: { jsonrpc: '2.0', id: '1', method: 'GetTask', params: { id: TASK_ID } } },
});

export const sendA2aMessage = defineCreation(MESSAGES, {
  ...of,
  operationId: 'sendA2aMessage',
  headers: messageKey,
  method: 'post',
  path: '/a2a/{assistant_id}/message:send',
  permission: 'runs:create',
  summary: 'Send a message to an assistant, which makes a task or continues one',
  params: ASSISTANT,
  body: A2aSendRequest,
  bodyLimitBytes: MESSAGE_BYTES_MAX,
  responses: answered(
    'The task; or the message alone, where the graph answers so.',
    Type.Object({ task: Type.Optional(A2aTask), message: Type.Optional(A2aMessage) }),
  ),
  examples: { params: assistant, body: { message } },
});

export const streamA2aMessage = defineCreation(MESSAGES, {
  ...of,
  operationId: 'streamA2aMessage',
  headers: messageKey,
  method: 'post',
  path: '/a2a/{assistant_id}/message:stream',
  permission: 'runs:create',
  summary: 'Send a message to an assistant, and follow its task',
  params: ASSISTANT,
  body: A2aSendRequest,
  bodyLimitBytes: MESSAGE_BYTES_MAX,
  responses: events,
  examples: { params: assistant, body: { message } },
});

export const listA2aTasks = defineOperation({
  ...of,
  operationId: 'listA2aTasks',
  method: 'get',
  path: '/a2a/{assistant_id}/tasks',
  permission: 'runs:read',
  summary: 'Tasks of an assistant, the one whose status changed last first',
  params: ASSISTANT,
  query: A2aTaskListQuery,
  responses: answered('A page.', A2aTaskPage),
  examples: { params: assistant, query: { pageSize: 20 } },
});

export const getA2aTask = defineOperation({
  ...of,
  operationId: 'getA2aTask',
  method: 'get',
  path: '/a2a/{assistant_id}/tasks/{task_id}',
  permission: 'runs:read',
  summary: 'A task with its artifacts',
  params: TASK,
  query: A2aTaskQuery,
  responses: { ...answered('The task.', A2aTask), ...missing },
  examples: { params: task },
});

export const cancelA2aTask = defineOperation({
  ...of,
  operationId: 'cancelA2aTask',
  method: 'post',
  path: '/a2a/{assistant_id}/tasks/{task_id}:cancel',
  permission: 'runs:update',
  summary: 'Cancel a task',
  params: TASK,
  responses: { ...answered('The task.', A2aTask), ...missing },
  examples: { params: task },
});

const subscribe = {
  ...of,
  path: '/a2a/{assistant_id}/tasks/{task_id}:subscribe',
  permission: 'runs:read',
  summary: 'Follow a task that has not ended',
  params: TASK,
  responses: { ...events, ...missing },
  examples: { params: task },
} as const;

export const subscribeToA2aTask = defineOperation({ ...subscribe, operationId: 'subscribeToA2aTask', method: 'get' });
export const subscribeToA2aTaskAlias = defineOperation({
  ...subscribe,
  operationId: 'subscribeToA2aTaskAlias',
  method: 'post',
});

const configs = '/a2a/{assistant_id}/tasks/{task_id}/pushNotificationConfigs';

export const createA2aPushConfig = defineOperation({
  ...of,
  operationId: 'createA2aPushConfig',
  method: 'post',
  path: configs,
  permission: 'runs:update',
  summary: 'Have the end of a task, and each time it needs input, sent to a URL',
  params: TASK,
  body: A2aPushConfigRequest,
  responses: { ...answered('The configuration.', A2aPushConfig), ...missing },
  examples: { params: task, body: { url: 'https://client.example.com/a2a', token: 'a-token' } },
});

export const listA2aPushConfigs = defineOperation({
  ...of,
  operationId: 'listA2aPushConfigs',
  method: 'get',
  path: configs,
  permission: 'runs:read',
  summary: 'Where the end of a task is sent',
  params: TASK,
  responses: {
    ...answered(
      'All configurations of the task, on one page.',
      Type.Object({ configs: Type.Array(A2aPushConfig), nextPageToken: Type.String() }),
    ),
    ...missing,
  },
  examples: { params: task },
});

export const getA2aPushConfig = defineOperation({
  ...of,
  operationId: 'getA2aPushConfig',
  method: 'get',
  path: `${configs}/{config_id}`,
  permission: 'runs:read',
  summary: 'One place where the end of a task is sent',
  params: CONFIG,
  responses: { ...answered('The configuration.', A2aPushConfig), ...missing },
  examples: { params: { ...task, config_id: CONFIG_ID } },
});

export const deleteA2aPushConfig = defineOperation({
  ...of,
  operationId: 'deleteA2aPushConfig',
  method: 'delete',
  path: `${configs}/{config_id}`,
  permission: 'runs:update',
  summary: 'Send the end of a task to a URL no more',
  params: CONFIG,
  responses: { 204: { description: 'There is no such configuration any more.' }, ...missing },
  examples: { params: { ...task, config_id: CONFIG_ID } },
});

export const getExtendedAgentCard = defineOperation({
  ...of,
  operationId: 'getExtendedAgentCard',
  method: 'get',
  path: '/a2a/{assistant_id}/extendedAgentCard',
  permission: 'runs:read',
  summary: 'The card of an assistant with the schema of its input',
  params: ASSISTANT,
  responses: { ...answered('The card.', AgentCard), 404: { description: 'No such assistant.', schema: A2aHttpError } },
  examples: { params: assistant },
});

export const A2A_OPERATIONS = [
  getAgentCard,
  getAssistantCard,
  getPinnedAssistantCard,
  getCardKeys,
  callA2a,
  sendA2aMessage,
  streamA2aMessage,
  listA2aTasks,
  getA2aTask,
  cancelA2aTask,
  subscribeToA2aTask,
  subscribeToA2aTaskAlias,
  createA2aPushConfig,
  listA2aPushConfigs,
  getA2aPushConfig,
  deleteA2aPushConfig,
  getExtendedAgentCard,
  ...A2A_V03_OPERATIONS,
];
