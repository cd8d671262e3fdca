import { type TestServiceProcess, TraceCollector, waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Deployment, openDeployment } from './worker-fixture.ts';

const collector = new TraceCollector();
beforeAll(() => collector.open());
afterAll(() => collector.close());
let deployment: Deployment;
beforeAll(async () => {
  deployment = await openDeployment();
});
afterAll(() => deployment?.close());

let traces = 0;
/** Returns a trace that a run continues, and its `configurable` for that. */
function newTrace(flags = '01') {
  traces += 1;
  const traceId = String(traces).padStart(32, 'a');
  return { traceId, configurable: { __otel_traceparent__: `00-${traceId}-${'b'.repeat(16)}-${flags}` } };
}

describe('with a collector', () => {
  let worker: TestServiceProcess;
  beforeAll(async () => {
    worker = await deployment.startWorkerProcess(collector.variables);
  });
  afterAll(() => worker?.stop());

  it('a run whose trace is not sampled leaves no spans, and the code of a traced one can continue the trace', async () => {
    const unsampled = newTrace('00');
    await deployment.ended(await deployment.create('echo', { configurable: unsampled.configurable }));
    const sampled = newTrace();
    const run = await deployment.create('traced', { configurable: sampled.configurable });
    const { result } = await deployment.ended(run);
    const spans = await collector.trace(sampled.traceId, 'process runs', 'invoke_agent traced');
    const attempt = spans.find(({ name }) => name === 'process runs');
    const { log } = JSON.parse(Buffer.from(result!).toString('utf8')) as { log: string[] };
    expect(log).toEqual([`00-${sampled.traceId}-${attempt?.spanId}-01`]);
    expect(collector.of(unsampled.traceId)).toEqual([]);
  });

  it('the trace of a run continues in its second attempt after its worker was killed', async () => {
    const [ledger, gate] = [deployment.file(), deployment.file()];
    await gate.write('one');
    const { traceId, configurable } = newTrace();
    const input = { ledger: ledger.path, gate: gate.path };
    const run = await deployment.create('steps', { input, durability: 'sync', configurable });
    // The node that ended before the kill has been sent by then.
    await collector.trace(traceId, 'node one');
    const killed = worker;
    worker = await deployment.startWorkerProcess(collector.variables);
    await killed.stop({ signal: 'SIGKILL' });
    await gate.write('one two three');
    expect(await deployment.ended(run)).toMatchObject({ status: 'success', attempt: 2 });
    const spans = await collector.trace(traceId, 'process runs', 'node two', 'node three', 'invoke_agent steps');
    const [attempt] = spans.filter(({ name }) => name === 'process runs');
    expect(attempt).toMatchObject({
      kind: 'consumer',
      parentSpanId: 'b'.repeat(16),
      attributes: {
        'runyard.run.id': run.runId,
        'runyard.run.attempt': 2,
        'runyard.run.outcome': 'success',
        'gen_ai.conversation.id': run.threadId,
        'langsmith.run_id': run.runId,
      },
      resource: { 'service.name': 'runyard-run-worker', 'runyard.deployment.id': 'test' },
    });
    const agent = spans.find(({ name }) => name === 'invoke_agent steps');
    expect(agent?.parentSpanId).toBe(attempt?.spanId);
    const nodes = spans.filter(({ name }) => name.startsWith('node ')).map(({ name }) => name);
    expect(nodes.sort()).toEqual(['node one', 'node three', 'node two']);
  });
});

it('spans of a failed run say so without credentials, and the worker that stops sends them', async () => {
  const worker = await deployment.startWorkerProcess({
    ...collector.variables,
    OTEL_BSP_SCHEDULE_DELAY: '60000',
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
  });
  const { traceId, configurable } = newTrace();
  const run = await deployment.create('boom', { configurable });
  await deployment.ended(run);
  expect(collector.of(traceId)).toEqual([]);
  await worker.stop();
  const spans = await collector.trace(traceId, 'process runs', 'node one');
  expect(spans.find(({ name }) => name === 'process runs')).toMatchObject({
    attributes: { 'error.type': 'TypeError', 'runyard.run.outcome': 'error' },
  });
  const node = spans.find(({ name }) => name === 'node one');
  expect(node?.error?.message).toContain('no answer from');
  expect(node?.error?.message).not.toMatch(/secret|db\.internal/);
});

it('runs go on while the collector refuses their spans, which are counted', async () => {
  const worker = await deployment.startWorkerProcess({
    ...collector.variables,
    OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/elsewhere`,
  });
  const run = await deployment.create('echo', newTrace());
  expect(await deployment.ended(run)).toMatchObject({ status: 'success' });
  await waitFor(
    async () => /runyard_trace_spans_lost_total\S* [1-9]/.test(await (await fetch(`${worker.url}/metrics`)).text()),
    { what: 'lost spans to be counted' },
  );
  expect(await worker.stop()).toEqual({ code: 0, signal: null });
});
