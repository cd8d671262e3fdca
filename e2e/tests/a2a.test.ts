import { randomUUID } from 'node:crypto';
import {
  CancelTaskRequest,
  GetTaskRequest,
  ListTasksRequest,
  SendMessageRequest,
  StreamResponse,
  SubscribeToTaskRequest,
  Task,
} from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import { describe, expect, inject, it } from 'vitest';

const { deploymentUrl, apiKey } = inject('platform');

/** Credentials go with requests, and not with those for cards. */
const fetchImpl: typeof fetch = (url, init) => {
  const headers = new Headers(init?.headers);
  headers.set('x-api-key', apiKey);
  return fetch(url, { ...init, headers });
};

/** Creates the official client for an assistant, from its card. */
function connect(assistant: string, binding: 'JSONRPC' | 'HTTP+JSON'): Promise<Client> {
  const transports = [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })];
  const factory = new ClientFactory({ transports, preferredTransports: [binding] });
  return factory.createFromUrl(`${deploymentUrl}/a2a/${assistant}/`);
}

/** Creates a client of 0.3 for an assistant. */
async function connectOld(assistant: string, binding: 'JSONRPC' | 'HTTP+JSON'): Promise<Client> {
  const card = await new DefaultAgentCardResolver().resolve(`${deploymentUrl}/a2a/${assistant}/`);
  const supportedInterfaces = card.supportedInterfaces.filter(
    ({ protocolVersion, protocolBinding }) => protocolVersion === '0.3' && protocolBinding === binding,
  );
  expect(supportedInterfaces).toHaveLength(1);
  const options = { fetchImpl, legacyCompat: { enabled: true } };
  const transports = [new JsonRpcTransportFactory(options), new RestTransportFactory(options)];
  return new ClientFactory({ transports }).createFromAgentCard({ ...card, supportedInterfaces });
}

const message = (parts: object[], more: object = {}) =>
  SendMessageRequest.fromJSON({ message: { messageId: randomUUID(), role: 'ROLE_USER', parts, ...more } });

type TaskJson = {
  id: string;
  contextId: string;
  status: { state: string };
  artifacts: { parts: { text?: string; data?: unknown }[] }[];
};

async function send(client: Client, request: SendMessageRequest): Promise<TaskJson> {
  return Task.toJSON((await client.sendMessage(request)) as Task) as TaskJson;
}

const clients: [string, (assistant: string) => Promise<Client>][] = [
  ['1.0 by JSON-RPC', (assistant) => connect(assistant, 'JSONRPC')],
  ['1.0 by HTTP+JSON', (assistant) => connect(assistant, 'HTTP+JSON')],
  ['0.3 by JSON-RPC', (assistant) => connectOld(assistant, 'JSONRPC')],
  ['0.3 by HTTP+JSON', (assistant) => connectOld(assistant, 'HTTP+JSON')],
];

describe.each(clients)('the official client of A2A %s, through the gateway', (name, connectTo) => {
  it('has a message answered, and finds its task again', async () => {
    const client = await connectTo('echo');
    const configuration = { returnImmediately: false };
    const task = await send(client, { ...message([{ text: 'hi' }]), configuration } as SendMessageRequest);
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(task.artifacts[0]?.parts[0]).toMatchObject({ text: 'echo: hi' });
    const again = Task.toJSON(await client.getTask(GetTaskRequest.fromJSON({ id: task.id }))) as TaskJson;
    expect(again.artifacts).toEqual(task.artifacts);
    await expect(client.getTask(GetTaskRequest.fromJSON({ id: randomUUID() }))).rejects.toThrow(/not found/i);
    if (name.startsWith('0.3')) return;
    const { tasks } = await client.listTasks(ListTasksRequest.fromJSON({ contextId: task.contextId }));
    expect(tasks.map(({ id }) => id)).toEqual([task.id]);
  });

  it('streams an answer as it is written, and whole at the end', async () => {
    const client = await connectTo('chat');
    const events: StreamResponse[] = [];
    for await (const event of client.sendMessageStream(message([{ text: 'tell me' }]))) events.push(event);
    const json = events.map((event) => StreamResponse.toJSON(event)) as Record<string, never>[];
    expect(Object.keys(json[0]!)).toEqual(['task']);
    expect(json.length).toBeGreaterThan(4);
    expect(json.at(-1)).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } });
    const text = 'The quick brown fox jumps over the lazy dog.';
    expect(json.at(-2)).toMatchObject({ artifactUpdate: { artifact: { parts: [{ text }] } } });
  });

  it('answers the question of a task, which goes on under its id', async () => {
    const client = await connectTo('approval');
    const asked = await send(client, message([{ data: { request: 'go' } }]));
    expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(asked.artifacts[0]?.parts[0]?.data).toMatchObject({ value: { question: 'May I go?' } });
    const { id: taskId, contextId } = asked;
    const done = await send(client, message([{ text: 'yes' }], { taskId, contextId }));
    expect(done).toMatchObject({ id: taskId, status: { state: 'TASK_STATE_COMPLETED' } });
    expect(done.artifacts[0]?.parts[0]?.data).toMatchObject({ log: ['prepared go', 'heard yes', 'did go'] });
  });

  it('leaves a stream, joins its task again and cancels it', async () => {
    const client = await connectTo('slow');
    const input = { name: randomUUID(), steps: 1, stepMs: 60_000 };
    let taskId = '';
    for await (const { payload } of client.sendMessageStream(message([{ data: input }]))) {
      if (payload?.$case === 'task') taskId = payload.value.id;
      if (payload?.$case === 'statusUpdate') break;
    }
    const joined = client.resubscribeTask(SubscribeToTaskRequest.fromJSON({ id: taskId }));
    expect((await joined.next()).value?.payload?.value).toMatchObject({ id: taskId });
    const canceled = await client.cancelTask(CancelTaskRequest.fromJSON({ id: taskId }));
    expect((Task.toJSON(canceled) as TaskJson).status.state).toBe('TASK_STATE_CANCELED');
    let last: StreamResponse | undefined;
    for await (const event of joined) last = event;
    expect(StreamResponse.toJSON(last!)).toMatchObject({
      statusUpdate: { status: { state: 'TASK_STATE_CANCELED' } },
    });
  });
});

it('a stranger without a key gets the card, and nothing else', async () => {
  const card = await fetch(`${deploymentUrl}/a2a/echo/.well-known/agent-card.json`);
  expect(card.status).toBe(200);
  const { supportedInterfaces, signatures } = (await card.json()) as {
    supportedInterfaces: { url: string }[];
    signatures: { protected: string }[];
  };
  for (const { url } of supportedInterfaces) expect(url.startsWith(`${deploymentUrl}/a2a/`)).toBe(true);
  const { jku } = JSON.parse(Buffer.from(signatures[0]!.protected, 'base64url').toString()) as { jku: string };
  expect(await (await fetch(jku)).json()).toMatchObject({ keys: [{ kty: 'EC', alg: 'ES256' }] });
  expect((await fetch(`${deploymentUrl}/a2a/echo/tasks`)).status).toBe(401);
});
