import { waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Platform, startPlatform } from '../harness/platform.ts';
import { type PhoenixServer, type PhoenixSpan, startPhoenix } from './phoenix-server.ts';

let phoenix: PhoenixServer;
let platform: Platform;
beforeAll(async () => {
  phoenix = await startPhoenix();
  platform = await startPlatform({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: phoenix.url,
      OTEL_BSP_SCHEDULE_DELAY: '100',
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
    },
  });
});
afterAll(async () => {
  await platform?.stop();
  await platform?.remove();
  await phoenix?.stop();
});

it('Phoenix shows the run of an agent as one trace, whose calls it knows for what they are', async () => {
  const traceId = 'c'.repeat(32);
  const answer = await fetch(`${platform.deploymentUrl}/runs/wait`, {
    method: 'POST',
    headers: {
      'x-api-key': platform.apiKey,
      'content-type': 'application/json',
      traceparent: `00-${traceId}-${'d'.repeat(16)}-01`,
    },
    body: JSON.stringify({ assistant_id: 'weather', input: { messages: [{ role: 'user', content: 'Oslo, please' }] } }),
  });
  expect(await answer.text()).toContain('It rains in Oslo.');

  const first = 'POST /deployments/{deployment}/…';
  const spans = await waitFor(
    async () => {
      const found = await phoenix.spansOf(traceId);
      return [first, 'process runs'].every((name) => found.some((span) => span.name === name)) ? found : undefined;
    },
    { what: 'the trace' },
  );
  const wayUp = (span: PhoenixSpan): string[] => {
    const parent = spans.find(({ context }) => context.span_id === span.parent_id);
    return [span.name, ...(parent ? wayUp(parent) : [])];
  };
  const tool = spans.find(({ name }) => name === 'execute_tool weather')!;
  expect(wayUp(tool)).toEqual([
    'execute_tool weather',
    'node tools',
    'invoke_agent weather',
    'process runs',
    'send runs',
    'POST /runs/wait',
    first,
  ]);
  const kindOf = (start: string) => spans.find(({ name }) => name.startsWith(start))?.span_kind;
  expect([kindOf('execute_tool'), kindOf('invoke_agent'), kindOf('chat')]).toEqual(['TOOL', 'AGENT', 'LLM']);
  expect(JSON.stringify(spans)).toContain('Oslo, please');
});
