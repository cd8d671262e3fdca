import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startDeployment, type TestDeployment } from './deployment.ts';
import type { FakeRun } from './fake-worker.ts';
import { open, type RawAnswer } from './raw-http.ts';

const BODY_BYTES = 700_000;

let deployment: TestDeployment;
beforeAll(async () => {
  deployment = await startDeployment({ env: { HTTP_MAX_BODY_BYTES_IN_FLIGHT: '1000000' } });
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

const requests: [string, () => LargeRequest][] = [
  ['a stream of a run', () => ({ path: '/runs/stream', body: run })],
  ['a stream of a run on a thread', () => onThread('stream')],
  ['the result of a run', () => ({ path: '/runs/wait', body: run })],
  ['the result of a run on a thread', () => onThread('wait')],
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
