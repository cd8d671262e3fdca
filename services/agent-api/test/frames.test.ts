import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestDeployment } from './deployment.ts';
import { expectAnswer, type FrameParts, framesOf } from './frames.ts';
import { ask } from './raw-http.ts';
import { shareDeployment } from './shared-deployment.ts';

let deployment: TestDeployment;
beforeAll(async () => {
  deployment = await shareDeployment({ worker: 'real' });
});
afterAll(() => deployment?.close());

const id = randomUUID();
const message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hi' }] };
const oldMessage = { kind: 'message', messageId: 'm1', role: 'user', parts: [{ kind: 'text', text: 'hi' }] };

const A2A: FrameParts = {
  methods: [
    ...['SendMessage', 'SendStreamingMessage', 'GetTask', 'ListTasks', 'CancelTask', 'SubscribeToTask'],
    ...['message/send', 'message/stream', 'tasks/get', 'tasks/cancel', 'tasks/resubscribe'],
    ...['CreateTaskPushNotificationConfig', 'tasks/pushNotificationConfig/set', 'GetExtendedAgentCard'],
  ],
  params: {
    message: [
      message,
      oldMessage,
      { ...message, parts: [] },
      { ...message, taskId: id },
      { ...message, contextId: 'no uuid' },
      { ...message, parts: [{ raw: '%%%' }, { text: 'a\u0000b' }, { data: [1] }, {}] },
      { ...oldMessage, parts: [{ kind: 'file', file: {} }, { kind: 'zap' }] },
    ],
    id: [id, 'zap', 7],
    taskId: [id],
    contextId: [id, 'zap'],
    pageSize: [0, 101, -1, 1.5, '5'],
    pageToken: ['', 'zap', 'AAAA'],
    historyLength: [-1, 0, 1e9],
    status: ['TASK_STATE_WORKING', 'zap'],
    url: ['http://127.0.0.1/', 'ftp://x', 'zap'],
    configuration: [{ returnImmediately: true }, { blocking: 'maybe' }, { historyLength: -2 }],
    metadata: [{ a: 'b\u0000' }],
  },
  headers: {
    'a2a-version': ['1.0', '0.3', '9.9', '', 'zap'],
    'a2a-extensions': ['https://example.com/x', ','],
    accept: ['application/json', 'text/event-stream', 'image/png'],
  },
};

const ENDPOINTS: [protocol: string, path: string, parts: FrameParts, valid: { headers: object; body: object }][] = [
  [
    'A2A',
    '/a2a/echo',
    A2A,
    { headers: { 'a2a-version': '1.0' }, body: { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} } },
  ],
];

describe.each(ENDPOINTS)('frames of %s', (_protocol, path, parts, valid) => {
  it('get an answer of the protocol, whatever is wrong with them, and the service goes on', async () => {
    const property = fc.asyncProperty(framesOf(parts), (frame) => expectAnswer(deployment.url + path, frame));
    await fc.assert(property, { numRuns: 300 });
    const { json } = await ask(deployment.url + path, valid as never);
    expect(json).toMatchObject({ jsonrpc: '2.0', id: 1, result: expect.anything() });
  });

  it('that are larger than allowed are refused before they are read', async () => {
    const body = JSON.stringify({ ...valid.body, padding: 'x'.repeat(33_554_432) });
    const headers = { 'content-type': 'application/json', ...valid.headers };
    const response = await fetch(deployment.url + path, { method: 'POST', headers, body });
    expect([response.status, await response.json()]).toMatchObject([413, { jsonrpc: '2.0', error: {} }]);
  });
});
