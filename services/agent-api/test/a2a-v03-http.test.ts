import { randomUUID } from 'node:crypto';
import { WebhookReceiver } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { A2aClient, answered, dataIn, type Json, says, V1 } from './a2a-client.ts';
import type { TestDeployment } from './deployment.ts';
import { ask, open } from './raw-http.ts';
import { shareDeployment } from './shared-deployment.ts';

let deployment: TestDeployment;
let receiver: WebhookReceiver;
let a2a: A2aClient;
beforeAll(async () => {
  receiver = await new WebhookReceiver().open();
  deployment = await shareDeployment();
  a2a = new A2aClient(deployment);
});
afterAll(async () => {
  await deployment?.close();
  await receiver?.close();
});

/** A message as the protocol buffers of 0.3 have it. */
const old = (content: object[], more: object = {}) => ({
  message: { messageId: randomUUID(), role: 'ROLE_USER', content, ...more },
});

describe('A2A 0.3 over HTTP', () => {
  it('has a message answered in the form of its protocol buffers, with files and data in both directions', async () => {
    const file = { fileWithBytes: 'aGk=', mimeType: 'image/png' };
    const parts = [{ text: 'look' }, { file }, { data: { data: { extra: 1 } } }];
    const sent = ask(`${a2a.base}/v1/message:send`, { body: old(parts) });
    const run = await deployment.worker.take();
    expect(run.claimed.kwargs.input).toMatchObject({
      extra: 1,
      messages: [{ content: [{ text: 'look' }, { type: 'image', data: 'aGk=', mimeType: 'image/png' }] }],
    });
    await run.succeed(
      answered(run.claimed, [
        { type: 'text', text: 'seen' },
        { type: 'image', url: 'https://a.example/x' },
      ]),
    );
    const { json } = await sent;
    const id = run.claimed.runId;
    const task = {
      id,
      contextId: expect.any(String),
      status: { state: 'TASK_STATE_COMPLETED', timestamp: expect.any(String) },
      artifacts: [
        {
          artifactId: id,
          name: 'Assistant Response',
          parts: [{ text: 'seen' }, { file: { fileWithUri: 'https://a.example/x' } }],
        },
      ],
      history: [{ role: 'ROLE_USER', content: [{ text: 'look' }, { file }] }, { role: 'ROLE_AGENT' }],
    };
    expect(json).toMatchObject({ task });
    expect(JSON.stringify(json)).not.toMatch(/"kind"|"parts":\[\{"text":"look/);
    expect((await ask(`${a2a.base}/v1/tasks/${id}`)).json).toMatchObject(task);
  });

  it('waits for the end only where a configuration says so', async () => {
    const configuration = { historyLength: 3 };
    const { json } = await ask(`${a2a.base}/v1/message:send`, { body: { ...old([{ text: 'a' }]), configuration } });
    expect(json).toMatchObject({ task: { status: { state: 'TASK_STATE_SUBMITTED' } } });
    const { id } = (json as Json).task;
    expect((await ask(`${a2a.base}/v1/tasks/${id}:cancel`, { method: 'POST' })).json).toMatchObject({
      status: { state: 'TASK_STATE_CANCELLED' },
    });
    const waiting = ask(`${a2a.base}/v1/message:send`, {
      body: { ...old([{ text: 'b' }]), configuration: { blocking: true } },
    });
    const run = await deployment.worker.take();
    await run.succeed(answered(run.claimed, 'now'));
    expect((await waiting).json).toMatchObject({ task: { status: { state: 'TASK_STATE_COMPLETED' } } });
  });

  it.each([
    ['blocking', { blocking: 'soon' }],
    ['pushNotification', { pushNotification: 'https://receiver.example' }],
    ['authentication', { pushNotification: { url: 'https://receiver.example', authentication: 'Bearer s' } }],
    ['schemes', { pushNotification: { url: 'https://receiver.example', authentication: { schemes: 'Bearer' } } }],
  ])('refuses a %s of a wrong form', async (_part, configuration) => {
    expect(
      await ask(`${a2a.base}/v1/message:send`, { body: { ...old([{ text: 'x' }]), configuration } }),
    ).toMatchObject({
      status: 400,
    });
  });

  it('streams a task, and lets other readers join it by GET and by POST', async () => {
    const stream = await open(`${a2a.base}/v1/message:stream`, { body: old([{ text: 'tell' }]) });
    const run = await deployment.worker.take();
    const { runId } = run.claimed;
    const joined = await Promise.all(
      ['GET', 'POST'].map((method) => open(`${a2a.base}/v1/tasks/${runId}:subscribe`, { method })),
    );
    await run.succeed(answered(run.claimed, 'done'));
    const events = dataIn(await stream.complete);
    expect(events[0]).toMatchObject({ task: { id: runId } });
    expect(events.at(-2)).toMatchObject({
      artifactUpdate: { artifact: { parts: [{ text: 'done' }] }, lastChunk: true },
    });
    expect(events.at(-1)).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' }, final: true } });
    for (const each of joined) expect(dataIn(await each.complete).at(-1)).toEqual(events.at(-1));
  });

  it('keeps push notification configurations, which carry the task in the form of JSON-RPC', async () => {
    const path = `/${randomUUID()}`;
    const url = receiver.url(path);
    const pushNotification = { url, token: 't' };
    const { json } = await ask(`${a2a.base}/v1/message:send`, {
      body: { ...old([{ text: 'x' }]), configuration: { pushNotification } },
    });
    const { id } = (json as Json).task;
    const configs = `${a2a.base}/v1/tasks/${id}/pushNotificationConfigs`;
    const authentication = { schemes: ['Bearer'], credentials: 's' };
    const pushNotificationConfig = { id: 'chosen', url, authentication };
    const name = `tasks/${id}/pushNotificationConfigs/chosen`;
    const made = { name, pushNotificationConfig };
    expect((await ask(configs, { body: { pushNotificationConfig } })).json).toEqual(made);
    expect((await ask(configs, { body: { parent: 'x', config: { pushNotificationConfig } } })).json).toEqual(made);
    const shown = { name, pushNotificationConfig: { id: 'chosen', url, authentication: { schemes: ['Bearer'] } } };
    expect((await ask(`${configs}/chosen`)).json).toEqual(shown);
    const sent = { name: expect.any(String), pushNotificationConfig: { id: expect.any(String), url } };
    expect((await ask(configs)).json).toEqual({ configs: [sent, shown], nextPageToken: '' });
    expect((await ask(`${configs}/chosen`, { method: 'DELETE' })).status).toBe(204);
    const run = await deployment.worker.take();
    await run.succeed(answered(run.claimed, 'done'));
    const [received] = await receiver.received(path);
    expect(received?.body).toMatchObject({ kind: 'task', id, status: { state: 'completed' } });
  });

  it('refuses what is wrong with the codes of its JSON-RPC, and a request of 1.0', async () => {
    const missing = await ask(`${a2a.base}/v1/tasks/${randomUUID()}`);
    expect([missing.status, missing.json]).toMatchObject([404, { code: -32001, message: expect.any(String) }]);
    for (const [body, code] of [
      [old([]), -32602],
      [old([{ text: 'a' }], { role: 'ROLE_AGENT' }), -32602],
      [old([{ file: { fileWithBytes: '%' } }]), -32005],
      [{}, -32602],
    ] as const) {
      const { status, json } = await ask(`${a2a.base}/v1/message:send`, { body });
      expect([status, json]).toMatchObject([400, { code, message: expect.any(String), detail: expect.any(String) }]);
    }
    const newer = await ask(`${a2a.base}/v1/message:send`, { body: old([{ text: 'a' }]), headers: V1 });
    expect([newer.status, newer.json]).toMatchObject([400, { code: -32009 }]);
    expect((await ask(`${deployment.url}/a2a/${randomUUID()}/v1/card`)).status).toBe(404);
  });

  it('refuses a text for a graph without messages', async () => {
    const { json } = await ask(`${deployment.url}/a2a/assembly/v1/message:send`, { body: old([{ text: 'a' }]) });
    expect(json).toMatchObject({ code: -32602, message: expect.stringContaining('takes no messages') });
  });

  it('gives the extended card with the fields of both versions', async () => {
    expect((await ask(`${a2a.base}/v1/card`)).json).toMatchObject({
      protocolVersion: '0.3.0',
      skills: expect.arrayContaining([expect.objectContaining({ id: 'structured-input' })]),
    });
  });
});

describe('a tenant', () => {
  it('of an agent is the agent itself, in the path and in the parameters', async () => {
    const { id } = await a2a.complete('hi');
    const [, assistantId] = /a2a\/([^/]+)$/.exec(
      ((await ask(`${a2a.base}/extendedAgentCard`)).json as Json).supportedInterfaces[0].url,
    )!;
    for (const tenant of ['echo', assistantId]) {
      expect((await ask(`${a2a.base}/${tenant}/tasks/${id}`)).json).toMatchObject({ id });
      expect((await ask(`${a2a.base}/tasks/${id}?tenant=${tenant}`)).json).toMatchObject({ id });
      expect((await a2a.rpc('GetTask', { id, tenant })).result).toMatchObject({ id });
      expect((await ask(`${a2a.base}/${tenant}/tasks?pageSize=1`)).json).toMatchObject({ pageSize: 1 });
      expect((await ask(`${a2a.base}/${tenant}/tasks/${id}/pushNotificationConfigs`)).status).toBe(200);
      expect((await ask(`${a2a.base}/${tenant}/extendedAgentCard`)).status).toBe(200);
    }
    const configuration = { returnImmediately: true };
    const sent = await ask(`${a2a.base}/echo/message:send`, { body: { ...says('x'), configuration } });
    const canceled = await ask(`${a2a.base}/echo/tasks/${(sent.json as Json).task.id}:cancel`, { method: 'POST' });
    expect(canceled.json).toMatchObject({ status: { state: 'TASK_STATE_CANCELED' } });
  });

  it('of any other name is answered like an agent that does not exist', async () => {
    const { id } = await a2a.complete('hi');
    for (const tenant of ['acme', 'a%2Fb', randomUUID()]) {
      for (const [path, body] of [
        [`/tasks/${id}`],
        [`/tasks/${id}:subscribe`],
        ['/tasks'],
        ['/extendedAgentCard'],
        ['/message:send', says('x')],
        ['/message:stream', says('x')],
      ] as const) {
        const { status, json } = await ask(`${a2a.base}/${tenant}${path}`, { body });
        expect([path, status, json]).toMatchObject([path, 404, { error: { code: 404, status: 'NOT_FOUND' } }]);
      }
    }
    expect((await ask(`${a2a.base}/message:send`, { body: { ...says('x'), tenant: 'acme' } })).status).toBe(404);
    expect((await a2a.rpc('GetTask', { id, tenant: 'acme' })).error).toMatchObject({ code: -32602 });
  });
});

describe('a graph', () => {
  it('rejects its task by the name of an error', async () => {
    const path = `/${randomUUID()}`;
    const taskPushNotificationConfig = { url: receiver.url(path) };
    const sent = a2a.rpc('SendMessage', { ...says('do it'), configuration: { taskPushNotificationConfig } });
    await (await deployment.worker.take()).fail({ error: 'TaskRejectedError', message: 'Not my business' });
    const { task } = (await sent).result;
    expect(task.status).toMatchObject({
      state: 'TASK_STATE_REJECTED',
      message: { parts: [{ text: 'Not my business' }] },
    });
    expect((await a2a.rpc('SendMessage', says('please', { taskId: task.id }))).error).toMatchObject({ code: -32004 });
    expect((await a2a.rpc('CancelTask', { id: task.id })).error).toMatchObject({ code: -32002 });
    const { tasks } = (await a2a.rpc('ListTasks', { status: 'TASK_STATE_REJECTED' })).result;
    expect(tasks.map(({ id }: Json) => id)).toEqual([task.id]);
    const [pushed] = await receiver.received(path);
    expect(pushed?.body).toMatchObject({ task: { status: { state: 'TASK_STATE_REJECTED' } } });
  });

  it('asks for an authorization by the value of an interrupt, and goes on when it gets a message', async () => {
    const path = `/${randomUUID()}`;
    const value = { a2a_state: 'auth-required', message: 'Please sign in', url: 'https://id.example/login' };
    const asked = await a2a.askBack(value, { taskPushNotificationConfig: { url: receiver.url(path) } });
    expect(asked).toMatchObject({
      status: { state: 'TASK_STATE_AUTH_REQUIRED', message: { parts: [{ text: 'Please sign in' }] } },
      artifacts: [{ name: 'Interrupt', parts: [{ data: { id: 'i1', value } }] }],
    });
    const listed = async (status: string) =>
      (await a2a.rpc('ListTasks', { status, contextId: asked.contextId })).result.tasks.map(({ id }: Json) => id);
    expect([await listed('TASK_STATE_AUTH_REQUIRED'), await listed('TASK_STATE_INPUT_REQUIRED')]).toEqual([
      [asked.id],
      [],
    ]);
    const [pushed] = await receiver.received(path);
    expect(pushed?.body).toMatchObject({ task: { status: { state: 'TASK_STATE_AUTH_REQUIRED' } } });
    const old = await a2a.rpc('tasks/get', { id: asked.id }, {});
    expect(old.result.status.state).toBe('auth-required');
    const answer = says('', { parts: [{ data: { resume: 'done' } }], contextId: asked.contextId });
    const resumed = a2a.rpc('SendMessage', answer);
    const run = await deployment.worker.take();
    expect(run.claimed.kwargs.command).toEqual({ resume: 'done' });
    await run.succeed({ messages: [] });
    expect((await resumed).result.task).toMatchObject({ id: asked.id, status: { state: 'TASK_STATE_COMPLETED' } });
  });

  it('answers by a message alone where its last message says so', async () => {
    const whole = { additional_kwargs: { a2a: { answer: 'message' } } };
    const answer = async (sent: Promise<Json>) => {
      const run = await deployment.worker.take();
      await run.succeed(answered(run.claimed, 'Just so', whole));
      return [await sent, run.claimed.runId];
    };
    const [{ result }, id] = await answer(a2a.rpc('SendMessage', says('how?')));
    expect(result).toEqual({
      message: {
        messageId: expect.any(String),
        role: 'ROLE_AGENT',
        parts: [{ text: 'Just so' }],
        contextId: expect.any(String),
      },
    });
    expect((await a2a.rpc('GetTask', { id })).result.status.state).toBe('TASK_STATE_COMPLETED');
    const [old] = await answer(a2a.rpc('message/send', says('how?'), {}));
    expect(old.result).toMatchObject({ kind: 'message', role: 'agent', parts: [{ kind: 'text', text: 'Just so' }] });
    const body = { message: { messageId: 'm', role: 'ROLE_USER', content: [{ text: 'how?' }] } };
    const [{ json }] = await answer(ask(`${a2a.base}/v1/message:send`, { body }));
    expect(json).toMatchObject({ message: { role: 'ROLE_AGENT', content: [{ text: 'Just so' }] } });
  });
});
