import { randomUUID } from 'node:crypto';
import { TraceCollector, WebhookReceiver } from '@runyard/test-kit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startDeployment, type TestDeployment } from './deployment.ts';
import { ask } from './raw-http.ts';

const collector = new TraceCollector();
const receiver = new WebhookReceiver();
let deployment: TestDeployment;
beforeAll(async () => {
  await Promise.all([collector.open(), receiver.open()]);
  deployment = await startDeployment({
    worker: 'real',
    env: { ...collector.variables, OUTBOUND_ALLOWED_NETWORKS: '127.0.0.1/32' },
  });
});
afterAll(async () => {
  await deployment?.close();
  await Promise.all([collector.close(), receiver.close()]);
});

function newTrace() {
  const traceId = randomUUID().replaceAll('-', '');
  return { traceId, headers: { traceparent: `00-${traceId}-${'b'.repeat(16)}-01` } };
}
const post = (path: string, body: object, headers: Record<string, string>) =>
  ask(deployment.url + path, { body, headers });

it('a request, its run, the graph and each call in it are one trace, which the webhook carries on', async () => {
  const { traceId, headers } = newTrace();
  const path = `/${randomUUID()}`;
  const body = { assistant_id: 'weather', input: { messages: [] }, webhook: receiver.url(path) };
  expect((await post('/runs/wait', body, headers)).status).toBe(200);
  const names = ['POST /runs/wait', 'send runs', 'process runs', 'invoke_agent weather', 'node tools'];
  const spans = await collector.trace(traceId, ...names, 'execute_tool weather');
  const wayUp = (name: string): string[] => {
    const own = spans.find((span) => span.name === name)!;
    const parent = spans.find(({ spanId }) => spanId === own.parentSpanId);
    return [name, ...(parent ? wayUp(parent.name) : [])];
  };
  expect(wayUp('execute_tool weather')).toEqual(['execute_tool weather', ...names.toReversed()]);
  expect(spans.filter(({ name }) => name === 'chat')).toHaveLength(2);
  const request = spans.find(({ name }) => name === 'POST /runs/wait');
  expect(request).toMatchObject({
    kind: 'server',
    parentSpanId: 'b'.repeat(16),
    attributes: { 'http.request.method': 'POST', 'http.route': '/runs/wait', 'http.response.status_code': 200 },
    resource: { 'service.name': 'runyard-agent-api' },
  });
  expect(JSON.stringify(spans.map(({ attributes }) => attributes))).not.toMatch(/Oslo|It rains/);
  const [webhook] = await receiver.received(path);
  const sent = spans.find(({ name }) => name === 'send runs');
  expect(webhook?.headers.traceparent).toBe(`00-${traceId}-${sent?.spanId}-01`);
});

it('every way to create a run continues the trace of its request', async () => {
  const threadId = randomUUID();
  await post('/threads', { thread_id: threadId }, {});
  const input = { messages: [] };
  const message = { messageId: randomUUID(), role: 'user', parts: [{ kind: 'text', text: 'hi' }] };
  const a2a = { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } };
  const ways: [path: string, body: object][] = [
    [`/threads/${threadId}/runs`, { assistant_id: 'echo', input }],
    [`/threads/${threadId}/commands`, { id: 1, method: 'run.start', params: { assistant_id: 'echo', input } }],
    ['/runs/batch', [{ assistant_id: 'echo', input }]],
    ['/a2a/046b5dc7-2108-582c-9c6c-31d556d138f0', a2a],
  ];
  for (const [path, body] of ways) {
    const { traceId, headers } = newTrace();
    expect((await post(path, body, headers)).status, path).toBe(200);
    await collector.trace(traceId, 'send runs', 'process runs', 'invoke_agent echo');
  }
});

it('the trace of an answer refers to the trace of the run that asked', async () => {
  const { thread_id: threadId } = await deployment.client.threads.create();
  const [asking, answering] = [newTrace(), newTrace()];
  const path = `/threads/${threadId}/runs/wait`;
  await post(path, { assistant_id: 'approval', input: { request: 'go' } }, asking.headers);
  await post(path, { assistant_id: 'approval', command: { resume: 'yes' } }, answering.headers);
  const spans = await collector.trace(answering.traceId, 'send runs', 'process runs');
  expect(spans.find(({ name }) => name === 'send runs')?.links).toMatchObject([{ traceId: asking.traceId }]);
});

it('a run of a cron begins a trace of its own', async () => {
  const { json } = await post(
    '/runs/crons',
    { assistant_id: 'echo', schedule: '0 0 1 1 *', input: { messages: [] } },
    {},
  );
  const { cron_id: cronId } = json as { cron_id: string };
  await deployment.pool.query("UPDATE cron SET next_run_date = now() - interval '1 second' WHERE cron_id = $1", [
    cronId,
  ]);
  await ask(`${deployment.url}/crons/${cronId}`, { method: 'PATCH', body: { metadata: {} } });
  const isOfCron = () => collector.spans.find((span) => span.attributes['runyard.cron.id'] === cronId);
  await expect.poll(isOfCron).toBeDefined();
  expect(isOfCron()?.parentSpanId).toBe('');
  await collector.trace(isOfCron()!.traceId, 'send runs', 'process runs');
});

it('a client cannot choose the trace of a run by its configuration, and an invalid traceparent begins a new one', async () => {
  const forged = { configurable: { __otel_traceparent__: `00-${'f'.repeat(32)}-${'f'.repeat(16)}-01` } };
  const body = { assistant_id: 'echo', input: { messages: [] }, config: forged };
  const { json } = await post('/runs', body, { traceparent: `00-${'0'.repeat(32)}-${'b'.repeat(16)}-01` });
  const { run_id: runId } = json as { run_id: string };
  const ofRun = () => collector.spans.find((span) => span.attributes['runyard.run.id'] === runId);
  await expect.poll(ofRun).toBeDefined();
  expect(ofRun()?.traceId).not.toMatch(/^(?:f+|0+)$/);
});

it('health checks and scrapes leave no spans', async () => {
  const { traceId, headers } = newTrace();
  for (const path of ['/ok', '/metrics', '/info']) await ask(deployment.url + path, { headers });
  await collector.trace(traceId, 'GET /info');
  expect(collector.of(traceId).map(({ name }) => name)).toEqual(['GET /info']);
});
