import { afterAll, beforeAll, expect, it } from 'vitest';
import { executionRequest, type HostUnderTest, runToEnd, startHost } from '../test/host-under-test.ts';

let host: HostUnderTest;
beforeAll(async () => {
  host = await startHost('basic');
});
afterAll(() => host.close());

const ONCE = {
  provider: 'gcp.gemini',
  model: 'metered-1',
  calls: 1,
  failed: 0,
  inputTokens: 12,
  outputTokens: 3,
  cacheReadTokens: 4,
  cacheCreationTokens: 5,
  reasoningTokens: 2,
};

it('a run says which models and tools it has called, and what they have used', async () => {
  const { usage } = await runToEnd(host, executionRequest('metered', { input: { ask: 'hi', times: 3 } }));
  expect(usage.at(-1)).toEqual({ models: [ONCE], tools: [{ name: 'look', calls: 3, failed: 0 }] });
});

it('what a step has used is known before its checkpoint', async () => {
  const { usage } = await runToEnd(host, executionRequest('metered', { input: { ask: 'wait' } }));
  // It is at its question, with nothing used since the checkpoint before.
  expect(usage).toEqual([{ models: [ONCE], tools: [{ name: 'look', calls: 1, failed: 0 }] }]);
});

it('a call that fails counts as failed, and a run that calls nothing reports nothing', async () => {
  const { outcome, usage } = await runToEnd(host, executionRequest('metered', { input: { ask: 'fail' } }));
  expect(outcome.kind).toBe('failed');
  expect(usage.at(-1)?.models).toMatchObject([{ model: 'metered-1', calls: 1, failed: 1, inputTokens: 0 }]);
  const silent = await runToEnd(host, executionRequest('echo', { input: { messages: [] } }));
  expect(silent.usage).toEqual([]);
});

it('a run that is executed beside others counts its own calls alone', async () => {
  const runs = Array.from({ length: 8 }, (_, n) =>
    runToEnd(host, executionRequest('metered', { input: { ask: 'hi', times: n + 1 } })),
  );
  const tools = (await Promise.all(runs)).map(({ usage }) => usage.at(-1)?.tools[0]?.calls);
  expect(tools).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});

it('a call that answers a model has the name of its tool, also where a node hands on its own', async () => {
  const { usage } = await runToEnd(host, executionRequest('tools', { input: { from: 2 } }));
  expect(usage.at(-1)?.tools).toContainEqual({ name: 'count', calls: 1, failed: 0 });
});
