import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startDeployment, type TestDeployment } from './deployment.ts';
import type { FakeRun } from './fake-worker.ts';
import { open, type RawAnswer } from './raw-http.ts';

const BODY_BYTES = 700_000;

let deployment: TestDeployment;
beforeAll(async () => {
  // Its schemas are not read off its source, which takes seconds.
  const LANGSERVE_GRAPHS = JSON.stringify({ echo: './graphs/carried-schemas.ts:echo' });
  deployment = await startDeployment({ env: { HTTP_MAX_BODY_BYTES_IN_FLIGHT: '1000000', LANGSERVE_GRAPHS } });
});
afterAll(() => deployment?.close());

interface LargeRequest {
  path: string;
  body: object;
  headers?: Record<string, string>;
}

const large = 'a'.repeat(BODY_BYTES);
const run = { assistant_id: 'echo', input: { messages: large } };
const onThread = (how: string) => ({
  path: `/threads/${randomUUID()}/runs/${how}`,
  body: { ...run, if_not_exists: 'create' },
});

const NEW = '2026-07-28';
const META = 'io.modelcontextprotocol';
const _meta = {
  [`${META}/protocolVersion`]: NEW,
  [`${META}/clientInfo`]: { name: 'test', version: '1' },
  [`${META}/clientCapabilities`]: { elicitation: {} },
};
/** A call of MCP that is answered by events: their headers go out at once. */
const toolCall = (version: string, meta: object, headers: Record<string, string>) => ({
  path: '/mcp',
  body: {
    ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
    params: { name: 'echo', arguments: { messages: large }, ...meta },
  },
  headers: { accept: 'text/event-stream', 'mcp-protocol-version': version, ...headers },
});

const requests: [string, () => LargeRequest][] = [
  ['a stream of a run', () => ({ path: '/runs/stream', body: run })],
  ['a stream of a run on a thread', () => onThread('stream')],
  ['the result of a run', () => ({ path: '/runs/wait', body: run })],
  ['the result of a run on a thread', () => onThread('wait')],
  ['a call of MCP', () => toolCall('2025-11-25', {}, {})],
  [
    'a call of MCP in the new revision',
    () => toolCall(NEW, { _meta }, { 'mcp-method': 'tools/call', 'mcp-name': 'echo' }),
  ],
  [
    'a run of AG-UI',
    () => {
      const names = { threadId: randomUUID(), runId: randomUUID() };
      return { path: '/agui/echo', body: { ...names, messages: [{ id: 'm', role: 'user', content: large }] } };
    },
  ],
];

it.each(requests)('a client that waits for %s holds nothing of its body: others may send as much', async (_, next) => {
  const waiting: { answer: RawAnswer; run: FakeRun }[] = [];
  for (const { path, ...request } of [next(), next()]) {
    const answer = await open(deployment.url + path, request);
    expect(answer.status).toBe(200);
    waiting.push({ answer, run: await deployment.worker.take() });
  }
  for (const { run } of waiting) {
    await run.emit('values', { done: true });
    await run.succeed({ done: true });
  }
  for (const { answer } of waiting) expect(await answer.complete).toContain('done');
});
