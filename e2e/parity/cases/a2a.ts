import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { answerCase, type ParityContext, shownElsewhere, statusCase } from '../framework/index.ts';

const TEST = 'services/agent-api/test/a2a.test.ts';
const V03_TEST = 'services/agent-api/test/a2a-v03-http.test.ts';
const REPEATS_TEST = 'services/agent-api/test/a2a-repeats.test.ts';
const VERSION = { 'a2a-version': '1.0' };
const assistant = { assistant_id: 'echo' };

const says = (text: string) => ({ message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text }] } });
const call = (method: string, params: object) => ({ jsonrpc: '2.0', id: '1', method, params });

const saysInV03 = (text: string) => ({
  message: { messageId: randomUUID(), role: 'ROLE_USER', content: [{ text }] },
});

/** Makes a task that has ended, and returns its path parameters. */
async function makeTask({ direct }: ParityContext) {
  const { body } = await direct.call('sendA2aMessage', { params: assistant, body: says('hi'), headers: VERSION });
  return { ...assistant, task_id: body.task.id as string };
}

/** Makes a task that waits for input. */
async function makeWaitingTask({ direct }: ParityContext) {
  const params = { assistant_id: 'approval' };
  const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ data: { request: 'go' } }] };
  const { body } = await direct.call('sendA2aMessage', { params, body: { message }, headers: VERSION });
  expect(body.task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  return { ...params, task_id: body.task.id as string };
}

async function makeConfig(context: ParityContext) {
  const params = await makeTask(context);
  const body = { url: 'http://127.0.0.1:9/a2a', token: 't' };
  const config = (await context.direct.call('createA2aPushConfig', { params, body })).body;
  return { ...params, config_id: config.id as string };
}

const ANSWERED = 'becomes a task with the answer as artifact, in the form that the version asks for';
const LISTED = 'is listed by page, state, time and context, and belongs to its assistant';
const CONFIGURED = 'are configured, shown and removed, by JSON-RPC and by HTTP';
const NAMED =
  'a card is found by the assistant, by the graph and in the query, and of several graphs one has to be named';

/** Fields that the tests of agent-api show. */
const FIELDS: Record<string, [promise: string, fields: string[]]> = {
  getAgentCard: [NAMED, ['query.assistant_id', 'header.a2a-version']],
  getAssistantCard: [NAMED, ['header.a2a-version']],
  callA2a: [ANSWERED, ['body.jsonrpc', 'body.id', 'body.method', 'body.params']],
  sendA2aMessage: [
    'over HTTP is answered at once when the client asks for that, and its context goes on with the next',
    ['body.message', 'body.configuration'],
  ],
  streamA2aMessage: [
    'streams its answer as it is written, and every reader gets it whole at the end',
    ['body.message', 'body.configuration'],
  ],
  listA2aTasks: [
    LISTED,
    [
      ...['contextId', 'status', 'pageSize', 'pageToken', 'historyLength', 'statusTimestampAfter', 'includeArtifacts'],
    ].map((name) => `query.${name}`),
  ],
  getA2aTask: [ANSWERED, ['query.historyLength']],
  createA2aPushConfig: [CONFIGURED, ['body.id', 'body.url', 'body.token', 'body.authentication']],
};

/** Fields of 0.3 over HTTP. */
const V03_FIELDS: Record<string, [promise: string, fields: string[]]> = {
  sendA2aMessageV03: ['waits for the end only where a configuration says so', ['body.message', 'body.configuration']],
  streamA2aMessageV03: [
    'streams a task, and lets other readers join it by GET and by POST',
    ['body.message', 'body.configuration'],
  ],
  getA2aTaskV03: [
    'has a message answered in the form of its protocol buffers, with files and data in both directions',
    ['query.historyLength'],
  ],
  createA2aPushConfigV03: [
    'keeps push notification configurations, which carry the task in the form of JSON-RPC',
    ['body.pushNotificationConfig', 'body.config'],
  ],
};

const subscribing = (operation: string) =>
  statusCase({
    operation,
    status: 200,
    promise: 'the task with its question, and what comes of it',
    run: async (context) => {
      const params = await makeWaitingTask(context);
      const response = await context.open(operation, { params });
      await context.direct.call('cancelA2aTask', { params });
      const [asked, ...later] = (await response.text()).split('\n\n');
      expect(asked).toContain('TASK_STATE_INPUT_REQUIRED');
      expect(later.join()).toMatch(/TASK_STATE_CANCELL?ED/);
      return response;
    },
  });

/** The key under which a message is sent once. */
const KEY = ['header.idempotency-key'];
const ONCE_BY_HTTP = 'is sent once to %s';
const KEY_FIELDS: Record<string, [promise: string, fields: string[]]> = {
  callA2a: ['is sent once, though it names neither context nor task and its call has another id', KEY],
  sendA2aMessage: [ONCE_BY_HTTP, KEY],
  streamA2aMessage: [ONCE_BY_HTTP, KEY],
  sendA2aMessageV03: [ONCE_BY_HTTP, KEY],
  streamA2aMessageV03: [ONCE_BY_HTTP, KEY],
};

const shown = (fields: Record<string, [promise: string, fields: string[]]>, test: string) =>
  Object.entries(fields).flatMap(([operation, [promise, names]]) =>
    names.map((field) => shownElsewhere({ operation, field, promise, test })),
  );

export const cases = [
  ...shown(FIELDS, TEST),
  ...shown(V03_FIELDS, V03_TEST),
  ...shown(KEY_FIELDS, REPEATS_TEST),
  answerCase('getAgentCard', 200, 'the card of the assistant that is named', { query: assistant }),
  answerCase('getAgentCard', 400, 'one of several graphs has to be named', {}),
  answerCase('getAgentCard', 404, 'no such assistant', { query: { assistant_id: randomUUID() } }),
  statusCase({
    operation: 'getAssistantCard',
    status: 200,
    promise: 'the address of the assistant through the gateway, as the client reached it',
    run: async ({ call: request, url }) => {
      const answer = await request('getAssistantCard', { params: assistant, headers: VERSION });
      const [first] = answer.body.supportedInterfaces;
      expect(first.url.startsWith(`${url}/a2a/`)).toBe(true);
      return answer;
    },
  }),
  statusCase({
    operation: 'getPinnedAssistantCard',
    status: 200,
    promise: 'the card has no field of 0.3',
    run: async ({ call: request }) => {
      const answer = await request('getPinnedAssistantCard', { params: assistant });
      expect(Object.keys(answer.body)).not.toContain('url');
      return answer;
    },
  }),
  answerCase('getCardKeys', 200, 'the keys that sign cards', {}),
  answerCase('callA2a', 200, 'the result of a method', async (context) => ({
    params: assistant,
    headers: VERSION,
    body: call('GetTask', { id: (await makeTask(context)).task_id }),
  })),
  answerCase('sendA2aMessage', 200, 'the task, when it has ended', { params: assistant, body: says('hi') }),
  answerCase('streamA2aMessage', 200, 'the task and what happens to it', { params: assistant, body: says('hi') }),
  answerCase('listA2aTasks', 200, 'a page of tasks', { params: assistant, query: { pageSize: 1 } }),
  answerCase('getA2aTask', 200, 'the task', async (context) => ({ params: await makeTask(context) })),
  answerCase('cancelA2aTask', 200, 'the canceled task', async (context) => ({
    params: await makeWaitingTask(context),
  })),
  ...['subscribeToA2aTask', 'subscribeToA2aTaskAlias'].map(subscribing),
  answerCase('createA2aPushConfig', 200, 'the configuration', async (context) => ({
    params: await makeTask(context),
    body: { url: 'http://127.0.0.1:9/a2a' },
  })),
  answerCase('listA2aPushConfigs', 200, 'all configurations of a task', async (context) => ({
    params: await makeTask(context),
  })),
  answerCase('getA2aPushConfig', 200, 'a configuration', async (context) => ({ params: await makeConfig(context) })),
  answerCase('deleteA2aPushConfig', 204, 'nothing', async (context) => ({ params: await makeConfig(context) })),
  answerCase('getExtendedAgentCard', 200, 'the card with the schema of the input', { params: assistant }),
  answerCase('sendA2aMessageV03', 200, 'the task, when it has ended', { params: assistant, body: saysInV03('hi') }),
  answerCase('streamA2aMessageV03', 200, 'the task and what happens to it', {
    params: assistant,
    body: saysInV03('hi'),
  }),
  answerCase('getA2aTaskV03', 200, 'the task', async (context) => ({ params: await makeTask(context) })),
  answerCase('cancelA2aTaskV03', 200, 'the canceled task', async (context) => ({
    params: await makeWaitingTask(context),
  })),
  ...['subscribeToA2aTaskV03', 'subscribeToA2aTaskV03Alias'].map(subscribing),
  answerCase('createA2aPushConfigV03', 200, 'the configuration', async (context) => ({
    params: await makeTask(context),
    body: { pushNotificationConfig: { url: 'http://127.0.0.1:9/a2a' } },
  })),
  answerCase('listA2aPushConfigsV03', 200, 'all configurations of a task', async (context) => ({
    params: await makeTask(context),
  })),
  answerCase('getA2aPushConfigV03', 200, 'a configuration', async (context) => ({ params: await makeConfig(context) })),
  answerCase('deleteA2aPushConfigV03', 204, 'nothing', async (context) => ({ params: await makeConfig(context) })),
  answerCase('getExtendedAgentCardV03', 200, 'the card with the fields of both versions', { params: assistant }),
];
