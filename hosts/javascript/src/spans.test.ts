import type { ExecutionRequest, RunSpan } from '@runyard/host-protocol';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { executionRequest, type HostUnderTest, memoryBackends, runToEnd, startHost } from '../test/host-under-test.ts';

let host: HostUnderTest;
beforeAll(async () => {
  host = await startHost('basic');
});
afterAll(() => host.close());

const PARENT = 'b'.repeat(16);
const traced = (
  input: object,
  { withContent = false, ...more }: { withContent?: boolean } & Partial<ExecutionRequest> = {},
) => executionRequest('metered', { input, spans: { parentSpanId: PARENT, withContent }, ...more });
const named = (spans: RunSpan[], name: string) => spans.find((span) => span.name === name)!;
/** Returns the names from a span up to the root. */
const wayUp = (spans: RunSpan[], span: RunSpan): string[] => {
  const parent = spans.find(({ spanId }) => spanId === span.parentSpanId);
  return [span.name, ...(parent ? wayUp(spans, parent) : [])];
};

it('a run has a span for its graph, each node, and each call of a model or tool, below each other', async () => {
  const request = traced({ ask: 'hi' });
  const { spans } = await runToEnd(host, request);
  expect(spans.map(({ name }) => name).sort()).toEqual([
    'chat metered-1',
    'execute_tool look',
    'invoke_agent metered',
    'node wait',
    'node work',
  ]);
  const inNode = ['node work', 'invoke_agent metered'];
  expect(wayUp(spans, named(spans, 'chat metered-1'))).toEqual(['chat metered-1', ...inNode]);
  expect(wayUp(spans, named(spans, 'execute_tool look'))).toEqual(['execute_tool look', ...inNode]);
  const root = named(spans, 'invoke_agent metered');
  expect(root).toMatchObject({
    parentSpanId: PARENT,
    kind: 'internal',
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'metered',
      'gen_ai.agent.id': request.assistantId,
      'gen_ai.conversation.id': request.threadId,
      'runyard.run.id': request.runId,
    },
  });
  for (const span of spans) {
    expect(span.error).toBeUndefined();
    expect(span.startMs).toBeGreaterThanOrEqual(root.startMs);
    expect(span.endMs).toBeLessThanOrEqual(root.endMs);
    expect(Math.abs(span.endMs - Date.now())).toBeLessThan(60_000);
  }
});

it('the span of a model says what was asked of which model, and what it used', async () => {
  const { spans } = await runToEnd(host, traced({ ask: 'hi' }));
  expect(named(spans, 'chat metered-1')).toMatchObject({
    kind: 'client',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'gcp.gemini',
      'gen_ai.system': 'gcp.gemini',
      'gen_ai.request.model': 'metered-1',
      'gen_ai.request.temperature': 0.5,
      'gen_ai.request.max_tokens': 10,
      'gen_ai.request.top_p': 0.9,
      'gen_ai.response.id': 'answer-1',
      'gen_ai.response.model': 'metered-1-2026',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': 12,
      'gen_ai.usage.output_tokens': 3,
      'gen_ai.usage.reasoning.output_tokens': 2,
      'gen_ai.usage.cache_read.input_tokens': 4,
      'gen_ai.usage.cache_creation.input_tokens': 5,
    },
  });
  expect(named(spans, 'execute_tool look').attributes).toEqual({
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'look',
    'gen_ai.tool.type': 'function',
    'gen_ai.tool.call.id': 'call-1',
  });
  expect(named(spans, 'node work').attributes).toEqual({ 'langgraph.node': 'work', 'langgraph.step': 1 });
});

it('spans carry what was said only where that is asked for', async () => {
  const without = await runToEnd(host, traced({ ask: 'a secret of mine' }));
  expect(JSON.stringify(without.spans)).not.toMatch(/a secret of mine|be brief|all is well|abcdefgh|seen/);
  const { spans } = await runToEnd(host, traced({ ask: 'a secret of mine' }, { withContent: true }));
  const { attributes } = named(spans, 'chat metered-1');
  const json = (name: string) => JSON.parse(attributes[name] as string);
  expect(json('gen_ai.system_instructions')).toEqual([{ type: 'text', content: 'be brief' }]);
  expect(json('gen_ai.input.messages')).toEqual([
    { role: 'user', parts: [{ type: 'text', content: 'a secret of mine' }] },
    { role: 'assistant', parts: [{ type: 'tool_call', id: 'call-1', name: 'look', arguments: '{"place":"here"}' }] },
    { role: 'tool', parts: [{ type: 'tool_call_response', id: 'call-1', response: 'seen' }] },
  ]);
  expect(json('gen_ai.output.messages')).toEqual([
    { role: 'assistant', parts: [{ type: 'text', content: 'all is well' }], finish_reason: 'stop' },
  ]);
  expect(named(spans, 'execute_tool look').attributes).toMatchObject({
    'gen_ai.tool.call.arguments': '{"place":"token=abcdefgh"}',
    'gen_ai.tool.call.result': 'seen token=abcdefgh',
  });
});

it('what is said is cut where it is long, and the newest of many messages stay', async () => {
  const { spans } = await runToEnd(host, traced({ ask: 'x'.repeat(100_000) }, { withContent: true }));
  const text = named(spans, 'chat metered-1').attributes['gen_ai.input.messages'] as string;
  expect(text.length).toBeLessThan(10_000);
  expect(JSON.parse(text)[0].parts[0].content).toContain('… (100000 characters)');
});

it('the spans that an error passes through have failed, and an interrupt is no failure', async () => {
  const failed = await runToEnd(host, traced({ ask: 'fail' }));
  expect(failed.outcome.kind).toBe('failed');
  const error = { type: 'RangeError', message: 'password=hunter22 was refused' };
  for (const name of ['chat metered-1', 'node work', 'invoke_agent metered']) {
    expect(named(failed.spans, name).error).toEqual(error);
  }
  expect(named(failed.spans, 'execute_tool look').error).toBeUndefined();
  const waiting = await runToEnd(host, traced({ ask: 'wait' }), memoryBackends());
  expect(named(waiting.spans, 'node wait')).toMatchObject({ attributes: { 'langgraph.interrupted': true } });
  expect(waiting.spans.filter((span) => span.error)).toEqual([]);
});

it('a run that calls tools without end sends a limited number of spans, and says how many it left out', async () => {
  const { spans } = await runToEnd(host, traced({ ask: 'hi', times: 2_100 }));
  expect(spans.length).toBeLessThanOrEqual(2_001);
  expect(named(spans, 'invoke_agent metered').attributes['runyard.run.dropped_spans']).toBeGreaterThan(99);
});

it('a run that nobody traces sends no spans, in whatever form it streams', async () => {
  const { spans } = await runToEnd(host, executionRequest('metered', { input: { ask: 'hi' } }));
  expect(spans).toEqual([]);
  for (const more of [{ streamModes: ['events'] }, { emitsProtocolEvents: true }]) {
    const inForm = await runToEnd(host, traced({ ask: 'hi' }, more));
    expect(inForm.spans).toHaveLength(5);
  }
});
