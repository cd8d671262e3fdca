import { afterAll, beforeAll, expect, it } from 'vitest';
import { executionRequest, type HostUnderTest, memoryBackends, runToEnd, startHost } from '../test/host-under-test.ts';

let host: HostUnderTest;
beforeAll(async () => {
  host = await startHost();
});
afterAll(() => host.close());

it('a host runs a TypeScript graph and returns its final values', async () => {
  const backends = memoryBackends();
  const request = executionRequest('echo', { input: { messages: [{ role: 'user', content: 'hi' }] } });
  const { outcome, values } = await runToEnd(host, request, backends);
  expect(outcome).toMatchObject({ kind: 'done', next: [], interrupts: null });
  expect(values).toMatchObject({
    messages: [
      { type: 'human', content: 'hi', name: null, example: false },
      { type: 'ai', content: 'echo: hi', tool_calls: [], usage_metadata: null },
    ],
  });
  const state = await host.getState({ graphId: 'echo', threadId: request.threadId }, backends);
  expect(state).toMatchObject({
    values,
    next: [],
    metadata: { thread_id: request.threadId, graph_id: 'echo', source: 'loop', step: 1, parents: {} },
    checkpoint_id: (outcome as { checkpointId: string }).checkpointId,
  });
});
