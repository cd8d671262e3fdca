import { randomUUID } from 'node:crypto';
import { waitFor } from '@runyard/test-kit';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { says, V1 } from './a2a-client.ts';
import type { TestDeployment } from './deployment.ts';
import { ask, open } from './raw-http.ts';
import { shareDeployment } from './shared-deployment.ts';

let deployment: TestDeployment;
beforeAll(async () => {
  deployment = await shareDeployment();
});
afterAll(() => deployment?.close());
afterEach(() => deployment.pool.query('UPDATE deployment SET halt_reason = NULL'));

const REASON = 'the model leaks';
/** Halts the deployment as its data plane does. */
const halt = (cancelsQueued = false) =>
  deployment.pool.query('UPDATE deployment SET halt_reason = $1, halt_cancels_queued = $2, halt_cancelled_runs = 0', [
    REASON,
    cancelsQueued,
  ]);

const echo = { assistant_id: 'echo', input: {} };
const newThread = async () => (await deployment.client.threads.create()).thread_id;
const statusOf = async (threadId: string, runId: string) => (await deployment.client.runs.get(threadId, runId)).status;
const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 7, method, params });
const toolCall = rpc('tools/call', {
  name: 'echo',
  arguments: {},
  _meta: {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  },
});
const ofMcp = {
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': 'echo',
};
const agUi = () => ({
  threadId: randomUUID(),
  runId: randomUUID(),
  messages: [{ id: randomUUID(), role: 'user', content: 'hi' }],
  tools: [],
  context: [],
  state: {},
  forwardedProps: {},
});

describe('a halted deployment', () => {
  it.each<[string, (threadId: string) => string, object, Record<string, string>?]>([
    ['a run on a thread', (id) => `/threads/${id}/runs`, echo],
    ['a streamed run', (id) => `/threads/${id}/runs/stream`, echo],
    ['a run that the client waits for', (id) => `/threads/${id}/runs/wait`, echo],
    ['a stateless run', () => '/runs', echo],
    ['a streamed stateless run', () => '/runs/stream', echo],
    ['a stateless run that the client waits for', () => '/runs/wait', echo],
    ['a batch', () => '/runs/batch', [echo, echo]],
    [
      'a command of the event protocol',
      (id) => `/threads/${id}/commands`,
      { id: 1, method: 'run.start', params: echo },
    ],
    ['a message of A2A', () => '/a2a/echo', rpc('SendMessage', says('hi')), V1],
    ['a streamed message of A2A', () => '/a2a/echo', rpc('SendStreamingMessage', says('hi')), V1],
    ['a call of a tool of MCP', () => '/mcp', toolCall, ofMcp],
    ['an input of AG-UI', () => '/agui/echo', agUi()],
  ])('answers %s with 503, the reason and the time to come back', async (_, path, body, headers = {}) => {
    const threadId = await newThread();
    await halt();
    const answer = await ask(`${deployment.url}${path(threadId)}`, { body, headers });
    expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '30' } });
    expect(answer.text).toContain(`The deployment is halted: ${REASON}`);
    expect((await deployment.pool.query('SELECT 1 FROM run WHERE thread_id = $1', [threadId])).rowCount).toBe(0);
  });

  it('cancels what runs: its stream goes on to its end, and reads and state updates work', async () => {
    const threadId = await newThread();
    const stream = await open(`${deployment.url}/threads/${threadId}/runs/stream`, { body: echo });
    const run = await deployment.worker.take();
    await halt();
    const order = await deployment.worker.order(run);
    expect(order).toMatchObject({ action: 'interrupt', reason: `The deployment is halted: ${REASON}` });
    await run.interrupt({ n: 1 });
    await stream.complete;
    expect(await statusOf(threadId, run.claimed.runId)).toBe('interrupted');
    expect(await deployment.client.threads.search({ ids: [threadId] })).toHaveLength(1);
    const metadata = { reviewed: true };
    expect(await deployment.client.threads.update(threadId, { metadata })).toMatchObject({ metadata });
    const { rows } = await deployment.pool.query('SELECT halt_cancelled_runs FROM deployment');
    expect(rows).toEqual([{ halt_cancelled_runs: 1 }]);
  });

  it('refuses to wait for a run that it keeps in the queue, which runs once the deployment is resumed', async () => {
    const threadId = await newThread();
    const { run_id } = await deployment.client.runs.create(threadId, 'echo', { input: {} });
    await halt(false);
    for (const path of ['join', 'stream']) {
      const answer = await ask(`${deployment.url}/threads/${threadId}/runs/${run_id}/${path}`);
      expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '30' } });
    }
    expect(await statusOf(threadId, run_id)).toBe('pending');
    await deployment.pool.query('UPDATE deployment SET halt_reason = NULL');
    const run = await deployment.worker.take();
    expect(run.claimed.runId).toBe(run_id);
    await run.succeed({});
  });

  it('ends the streams of runs that wait, where the halt cancels them', async () => {
    const threadId = await newThread();
    const stream = await open(`${deployment.url}/threads/${threadId}/runs/stream`, { body: echo });
    await halt(true);
    await stream.complete;
    const [run] = await deployment.client.runs.list(threadId);
    expect(run?.status).toBe('interrupted');
    expect((await deployment.client.threads.get(threadId)).status).toBe('idle');
  });

  it('answers a repeated request with the run that it made before', async () => {
    const threadId = await newThread();
    const headers = { 'idempotency-key': randomUUID() };
    const create = () => ask(`${deployment.url}/threads/${threadId}/runs`, { body: echo, headers });
    const first = (await create()).json as { run_id: string };
    await halt(true);
    await waitFor(async () => (await statusOf(threadId, first.run_id)) === 'interrupted', { what: 'the cancel' });
    expect(await create()).toMatchObject({ status: 200, json: { run_id: first.run_id } });
  });

  it('stays halted over a restart of its servers', async () => {
    await halt();
    const another = await deployment.startAnother();
    expect(await ask(`${another.url}/runs`, { body: echo })).toMatchObject({ status: 503 });
  });
});
