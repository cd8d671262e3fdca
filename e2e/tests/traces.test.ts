import { randomUUID } from 'node:crypto';
import { type CollectedSpan, waitFor } from '@runyard/test-kit';
import { expect, inject, it } from 'vitest';

const { deploymentUrl, apiKey, collectorUrl } = inject('platform');

async function spansOf(traceId: string): Promise<CollectedSpan[]> {
  return (await (await fetch(`${collectorUrl}/traces/${traceId}`)).json()) as CollectedSpan[];
}

/** Has an agent with a tool answer, as a part of a trace. */
async function askForWeather(flags: '00' | '01'): Promise<string> {
  const traceId = randomUUID().replaceAll('-', '');
  const response = await fetch(`${deploymentUrl}/runs/wait`, {
    method: 'POST',
    headers: {
      'x-api-key': apiKey,
      'content-type': 'application/json',
      traceparent: `00-${traceId}-${'b'.repeat(16)}-${flags}`,
    },
    body: JSON.stringify({ assistant_id: 'weather', input: { messages: [{ role: 'user', content: 'Oslo, please' }] } }),
  });
  expect(await response.text()).toContain('It rains in Oslo.');
  return traceId;
}

it('one trace leads from the gateway through the server and the worker to the call of a tool, if it is sampled', async () => {
  const unsampled = await askForWeather('00');
  const traceId = await askForWeather('01');
  // Spans are sent when they end, those of the services in no order.
  const ends = ['POST /deployments/{deployment}/…', 'POST /runs/wait', 'process runs'];
  const spans = await waitFor(
    async () => {
      const found = await spansOf(traceId);
      return ends.every((end) => found.some(({ name }) => name === end)) ? found : undefined;
    },
    { what: `the ends of ${ends.join(', ')}` },
  );
  const wayUp = (span: CollectedSpan): string[] => {
    const parent = spans.find(({ spanId }) => spanId === span.parentSpanId);
    return [`${span.resource['service.name']}: ${span.name}`, ...(parent ? wayUp(parent) : [])];
  };
  expect(wayUp(spans.find(({ name }) => name === 'execute_tool weather')!)).toEqual([
    'runyard-run-worker: execute_tool weather',
    'runyard-run-worker: node tools',
    'runyard-run-worker: invoke_agent weather',
    'runyard-run-worker: process runs',
    'runyard-agent-api: send runs',
    'runyard-agent-api: POST /runs/wait',
    'runyard-gateway: POST /deployments/{deployment}/…',
  ]);
  // Nothing that was said is among them.
  expect(JSON.stringify(spans)).not.toMatch(/Oslo/);
  expect(await spansOf(unsampled)).toEqual([]);
});
