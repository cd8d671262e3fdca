/**
 * The rules that the public compatibility kits of A2A check, over both bindings: the kits steer an agent by the ids of
 * their messages.
 */
import { randomUUID } from 'node:crypto';
import { WebhookReceiver } from '@runyard/test-kit';
import { describe, expect, inject, it } from 'vitest';

const { deploymentUrl, apiKey } = inject('platform');
const AGENT = `${deploymentUrl}/a2a/kit`;
const HEADERS = { 'content-type': 'application/json', 'a2a-version': '1.0', 'x-api-key': apiKey };

// biome-ignore lint/suspicious/noExplicitAny: answers of the protocol are looked into at many places.
type Json = any;

/** Returns the parameters of a message whose id says what the agent has to do. */
const says = (prefix: string, more: object = {}, configuration: object = {}) => ({
  message: { messageId: `${prefix}-${randomUUID()}`, role: 'ROLE_USER', parts: [{ text: 'Hello from TCK' }], ...more },
  configuration,
});

type Method = 'SendMessage' | 'SendStreamingMessage' | 'GetTask' | 'ListTasks' | 'CancelTask' | 'SubscribeToTask';

/** A binding: how a method is called, and what a failure is. */
interface Binding {
  request(method: Method, params: Json): Promise<Response>;
  /** Returns the result, or the failure as its reason. */
  read(body: Json): { result?: Json; reason?: string };
}

const reasonOf = (details: Json[] = []): string => details.map(({ reason }) => reason).find(Boolean) ?? 'none';

const post = (path: string, body: object) =>
  fetch(AGENT + path, { method: 'POST', headers: HEADERS, body: JSON.stringify(body) });
const get = (path: string) => fetch(AGENT + path, { headers: HEADERS });

const jsonRpc: Binding = {
  request: (method, params) => post('', { jsonrpc: '2.0', id: 7, method, params }),
  read: ({ result, error }) => (error ? { reason: reasonOf(error.data) } : { result }),
};

const httpJson: Binding = {
  request(method, params) {
    const task = `/tasks/${encodeURIComponent(params.id)}`;
    if (method === 'SendMessage') return post('/message:send', params);
    if (method === 'SendStreamingMessage') return post('/message:stream', params);
    if (method === 'CancelTask') return post(`${task}:cancel`, {});
    if (method === 'SubscribeToTask') return post(`${task}:subscribe`, {});
    const { id: _, ...query } = params;
    return get(`${method === 'ListTasks' ? '/tasks' : task}?${new URLSearchParams(query)}`);
  },
  read: (body) => (body.error ? { reason: reasonOf(body.error.details) } : { result: body }),
};

describe.each([
  ['JSON-RPC', jsonRpc],
  ['HTTP+JSON', httpJson],
])('by %s', (_name, binding) => {
  const ask = async (method: Method, params: object) =>
    binding.read(await (await binding.request(method, params)).json());
  async function send(prefix: string, more: object = {}, configuration: object = {}): Promise<Json> {
    const { result, reason } = await ask('SendMessage', says(prefix, more, configuration));
    expect(result, reason).toHaveProperty('task');
    return result.task;
  }
  async function eventsIn(response: Response): Promise<Json[]> {
    const data = (await response.text()).matchAll(/^data: (.*?)\r?$/gm);
    return [...data].map(([, json]) => binding.read(JSON.parse(json!)).result);
  }

  it('a message is answered by a task in its final state, with known fields alone', async () => {
    const task = await send('tck-complete-task');
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(JSON.stringify(task)).toContain('Hello from TCK');
    expect(new Date(task.status.timestamp).toISOString()).toBe(task.status.timestamp);
    const known = ['artifacts', 'contextId', 'history', 'id', 'status'];
    expect(Object.keys(task).sort()).toEqual(known);
    for (const message of task.history) expect(Object.keys(message)).not.toContain('kind');
    expect((await ask('GetTask', { id: task.id })).result).toEqual(task);
  });

  it.each([
    ['tck-artifact-text', { text: 'Generated text content' }],
    ['tck-artifact-file', { raw: 'dGNr', mediaType: 'text/plain', filename: 'output.txt' }],
    ['tck-artifact-file-url', { url: 'https://example.com/output.txt', mediaType: 'text/plain' }],
  ])('%s brings forth an artifact of this kind', async (prefix, part) => {
    const [artifact] = (await send(prefix)).artifacts;
    expect(artifact).toMatchObject({ artifactId: expect.stringMatching(/./), parts: [part] });
  });

  it('a task that has ended takes no message, no cancel and no reader, and no task is found by an unknown id', async () => {
    const { id } = await send('tck-complete-task');
    expect((await ask('SendMessage', says('tck-send-002', { taskId: id }))).reason).toBe('UNSUPPORTED_OPERATION');
    expect((await ask('SubscribeToTask', { id })).reason).toBe('UNSUPPORTED_OPERATION');
    expect((await ask('CancelTask', { id })).reason).toBe('TASK_NOT_CANCELABLE');
    for (const method of ['GetTask', 'CancelTask', 'SubscribeToTask'] as const) {
      expect([method, (await ask(method, { id: 'tck-nonexistent' })).reason]).toEqual([method, 'TASK_NOT_FOUND']);
    }
    const missing = await ask('SendMessage', says('tck-send', { taskId: randomUUID() }));
    expect(missing.reason).toBe('TASK_NOT_FOUND');
  });

  it('content of an unknown type is refused', async () => {
    const parts = [{ raw: 'dGNr', mediaType: 'application/x-unsupported-tck-type' }];
    expect((await ask('SendMessage', says('tck-send-003', { parts }))).reason).toBe('CONTENT_TYPE_NOT_SUPPORTED');
  });

  it('a conversation goes on in its context, by the task alone or with the same context, and in no other', async () => {
    const { id: taskId, contextId, status } = await send('tck-input-required');
    expect(status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const elsewhere = await ask('SendMessage', says('tck-multi', { taskId, contextId: randomUUID() }));
    expect(elsewhere).not.toHaveProperty('result');
    const done = await send('tck-multi', { taskId });
    expect(done).toMatchObject({ id: taskId, contextId, status: { state: 'TASK_STATE_COMPLETED' } });
    const next = await send('tck-complete-task', { contextId });
    expect([next.contextId, next.id === taskId]).toEqual([contextId, false]);
    const { tasks } = (await ask('ListTasks', { contextId })).result;
    expect(tasks.map(({ id }: Json) => id)).toEqual([next.id, taskId]);
  });

  it('a history has as many messages as were asked for', async () => {
    const { id } = await send('tck-complete-task');
    expect((await ask('GetTask', { id, historyLength: 0 })).result).not.toHaveProperty('history');
    expect((await ask('GetTask', { id, historyLength: 1 })).result.history).toHaveLength(1);
    expect((await send('tck-complete-task', {}, { historyLength: 1 })).history).toHaveLength(1);
  });

  it('tasks are listed by pages, the newest first, and without artifacts', async () => {
    const { id: first, contextId } = await send('tck-artifact-text');
    const { id: second } = await send('tck-artifact-text', { contextId });
    const page = (await ask('ListTasks', { contextId, pageSize: 1 })).result;
    expect(page).toMatchObject({ tasks: [{ id: second }], pageSize: 1, totalSize: 2 });
    expect(page.tasks[0]).not.toHaveProperty('artifacts');
    const last = (await ask('ListTasks', { contextId, pageSize: 1, pageToken: page.nextPageToken })).result;
    expect(last).toMatchObject({ tasks: [{ id: first }], nextPageToken: '' });
    const unknown = (await ask('ListTasks', { contextId: 'tck-test-context' })).result;
    expect(unknown).toMatchObject({ tasks: [], nextPageToken: '', totalSize: 0 });
  });

  it('a stream begins with its task, and ends with its final state', async () => {
    for (const prefix of ['tck-stream-001', 'tck-stream-003', 'tck-stream-ordering-001', 'tck-stream-artifact-file']) {
      const events = await eventsIn(await binding.request('SendStreamingMessage', says(prefix)));
      expect(Object.keys(events[0])).toEqual(['task']);
      expect(events.at(-1)).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } });
      expect(events.some((event) => 'artifactUpdate' in event)).toBe(true);
    }
  });
});

it('the card has all that is required, and may be kept', async () => {
  const response = await fetch(`${AGENT}/1.0/.well-known/agent-card.json`);
  expect(response.headers.get('cache-control')).toMatch(/max-age=\d+/);
  expect(response.headers.get('etag')).toMatch(/./);
  const card = (await response.json()) as Record<string, unknown>;
  for (const field of ['name', 'description', 'version', 'supportedInterfaces', 'skills']) {
    expect([field, Boolean((card[field] as string | unknown[] | undefined)?.length)]).toEqual([field, true]);
  }
  for (const outdated of ['url', 'stateTransitionHistory', 'preferredTransport', 'protocolVersion']) {
    expect(Object.keys(card)).not.toContain(outdated);
  }
});

it('a receiver is told of the end of a task', async () => {
  const receiver = await new WebhookReceiver().open();
  try {
    const path = `/${randomUUID()}`;
    const taskPushNotificationConfig = { url: receiver.url(path), token: 'tck-token' };
    const sent = await httpJson.request('SendMessage', says('tck-complete-task', {}, { taskPushNotificationConfig }));
    const { task } = (await sent.json()) as Json;
    const [push] = await receiver.received(path);
    expect(push!.headers['x-a2a-notification-token']).toBe('tck-token');
    expect(push!.body).toMatchObject({ task: { id: task.id, status: { state: 'TASK_STATE_COMPLETED' } } });
  } finally {
    await receiver.close();
  }
});
