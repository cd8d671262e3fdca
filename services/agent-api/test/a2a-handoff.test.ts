import type { TestServiceProcess } from '@runyard/test-kit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { A2aClient, answered, brief, dataIn, type Json, says, V1 } from './a2a-client.ts';
import { startDeployment, type TestDeployment } from './deployment.ts';
import type { FakeRun } from './fake-worker.ts';
import { open, type RawAnswer } from './raw-http.ts';

const TAKES_OVER = { 'x-runyard-handover': 'accepted' };
const chunk = (content: string) => [{ type: 'AIMessageChunk', id: 'a', content }, {}];

let deployment: TestDeployment;
let stopping: TestServiceProcess;
let a2a: A2aClient;
beforeAll(async () => {
  deployment = await startDeployment({ env: { HTTP_MAX_BODY_BYTES_IN_FLIGHT: '1500000' } });
  a2a = new A2aClient(deployment);
});
afterAll(() => deployment?.close());

async function begin(path: string, body: object, headers: object = {}): Promise<{ answer: RawAnswer; run: FakeRun }> {
  const answer = await open(`${stopping.url}/a2a/echo${path}`, { body, headers: { ...V1, ...headers } });
  return { answer, run: await deployment.worker.take() };
}

/** Does what the gateway does at the end of an answer, at the process that stays. */
function continueAnswer({ trailers }: RawAnswer): Promise<RawAnswer> {
  const { 'x-runyard-handover': path } = trailers;
  expect(path).toMatch(/^\/a2a\//);
  return open(deployment.url + path, { headers: { 'x-runyard-handover': 'continued' } });
}

it('a stop hands streams and results of tasks off, in every form, and breaks off those that nobody takes over', async () => {
  stopping = await deployment.startAnother();
  const call = (method: string) => ({ jsonrpc: '2.0', id: 'c', method, params: says('x') });
  const old = { message: { messageId: 'm', role: 'ROLE_USER', content: [{ text: 'x' }] } };
  const rest = await begin('/message:stream', says('x'), TAKES_OVER);
  const rpc = await begin('', call('SendStreamingMessage'), TAKES_OVER);
  const v03 = await begin('/v1/message:stream', old, { ...TAKES_OVER, 'a2a-version': '0.3' });
  const waiting = await begin('', call('SendMessage'), TAKES_OVER);
  const untaken = await begin('/message:stream', says('x'));
  const streams = [rest, rpc, v03];
  for (const { run, answer } of [...streams, untaken]) {
    await run.emit('messages-tuple', chunk('Once '), 'messages');
    await answer.until('Once ');
  }
  const ended = rest.run;
  const stopped = stopping.stop();
  await Promise.all([...streams, waiting].map(({ answer }) => answer.complete));
  for (const { answer } of streams) expect(answer.text).not.toContain('COMPLETED');

  // One ends before the rest is fetched, and the others after.
  await ended.emit('messages-tuple', chunk('upon'), 'messages');
  await ended.succeed(answered(ended.claimed, 'Once upon'));
  const continued = await Promise.all([...streams, waiting].map(({ answer }) => continueAnswer(answer)));
  for (const { run } of [rpc, v03, waiting]) {
    await run.emit('messages-tuple', chunk('upon'), 'messages');
    await run.succeed(answered(run.claimed, 'Once upon'));
  }
  const whole = [
    'TASK_STATE_WORKING',
    'Once  false false',
    'upon true false',
    'Once upon false true',
    'TASK_STATE_COMPLETED',
  ];
  const unwrapped = [(event: Json) => event, ({ result }: Json) => result, (event: Json) => event];
  for (const [index, { answer }] of streams.entries()) {
    const events = dataIn(answer.text + (await continued[index]!.complete)).map(unwrapped[index]!);
    expect(events[0]).toHaveProperty('task');
    expect(events.slice(1).map(brief)).toEqual(whole);
  }
  expect(JSON.parse(waiting.answer.text + (await continued.at(-1)!.complete))).toMatchObject({
    id: 'c',
    result: { task: { id: waiting.run.claimed.runId, artifacts: [{ parts: [{ text: 'Once upon' }] }] } },
  });

  await expect(untaken.answer.complete).rejects.toThrow();
  expect((await stopped).code).toBe(0);
  const { runId } = untaken.run.claimed;
  const joined = await open(`${a2a.base}/tasks/${runId}:subscribe`, { headers: V1 });
  await untaken.run.succeed(answered(untaken.run.claimed, 'Once upon'));
  expect(
    dataIn(await joined.complete)
      .slice(1)
      .map(brief),
  ).toEqual(whole.filter((event) => !event.startsWith('upon')));
});

it('a stop hands the subscription to a task that waits off, which then goes on with the answer', async () => {
  stopping = await deployment.startAnother();
  const { id } = await a2a.askBack();
  const path = `${stopping.url}/a2a/echo/tasks/${id}:subscribe`;
  const answer = await open(path, { headers: { ...V1, ...TAKES_OVER } });
  await answer.until('TASK_STATE_INPUT_REQUIRED');
  await stopping.stop();
  await answer.complete;
  const continued = await continueAnswer(answer);
  const sent = a2a.rpc('SendMessage', says('yes', { taskId: id }));
  const run = await deployment.worker.take();
  await run.emit('messages-tuple', chunk('Well.'), 'messages');
  await continued.until('Well.');
  await run.succeed({ messages: [{ type: 'ai', content: 'Well.' }] });
  await sent;
  const events = dataIn(answer.text + (await continued.complete));
  expect(events.slice(1).map(brief)).toEqual([
    'TASK_STATE_WORKING',
    'Well. false false',
    'Well. false true',
    'TASK_STATE_COMPLETED',
  ]);
});

it('the rest of an answer is for those who may see its task, and a made-up rest is no answer', async () => {
  const { id } = await a2a.complete('hi');
  for (const query of [
    '',
    '?remainder=',
    `?remainder=${Buffer.from('{"name":{"form":"2.0"}}').toString('base64url')}`,
  ]) {
    const answer = await open(`${a2a.base}/tasks/${id}:subscribe${query}`, {
      headers: { 'x-runyard-handover': 'continued' },
    });
    expect(answer.status).toBe(404);
    await answer.complete;
  }
});

it('clients that wait or follow hold nothing of their messages: others may send as much', async () => {
  const parts = [{ raw: 'A'.repeat(1_000_000) }];
  const waiting: { answer: RawAnswer; run: FakeRun }[] = [];
  stopping = await deployment.startAnother();
  for (const path of ['/message:send', '/message:stream', '/message:send']) {
    waiting.push(await begin(path, says('', { parts })));
  }
  for (const { answer } of waiting) expect(answer.status).toBe(200);
  for (const { run } of waiting) await run.succeed({ messages: [{ type: 'ai', content: 'seen' }] });
  for (const { answer } of waiting) expect(await answer.complete).toContain('seen');
});
