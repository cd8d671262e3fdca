import { TraceCollector } from '@runyard/test-kit';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { openTracing } from './open-tracing.ts';
import type { RecordedSpan, Tracing } from './tracing.ts';
import { inheritedTracingVariables, type TracingVariables } from './variables.ts';

const collector = new TraceCollector();
beforeAll(() => collector.open());
afterAll(() => collector.close());
afterEach(() => void collector.spans.splice(0));

const open = (variables: TracingVariables = {}) =>
  openTracing({
    variables: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...variables },
    serviceName: 'runyard-test',
    resourceAttributes: { 'runyard.deployment.id': 'd' },
  });

const parent = (flags: string) => ({ traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-${flags}` });

function makeSpan(tracing: Tracing, flags?: string) {
  const span = tracing.startSpan({ name: 'work', kind: 'server', ...(flags && { parent: parent(flags) }) });
  span?.end();
  return span;
}

it('nothing is traced unless an endpoint or an exporter is set', async () => {
  const off: TracingVariables[] = [
    {},
    { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SDK_DISABLED: true },
    { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_EXPORTER: 'none' },
  ];
  for (const variables of off) {
    const tracing = await openTracing({ variables, serviceName: 'test' });
    expect([tracing.isOn, makeSpan(tracing)]).toEqual([false, undefined]);
  }
});

it('a span arrives with its service, its attributes and the release of the conventions', async () => {
  const tracing = await open({
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20secret,x-other=1',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
  });
  const span = tracing.startSpan({ name: 'work', kind: 'server', parent: parent('01'), attributes: { a: 1 } });
  span?.setAttributes({ list: ['x', 'y'], ratio: 0.5, is: true });
  span?.rename('GET /work');
  span?.fail({ type: 'internal_error', message: 'no' });
  span?.end();
  await tracing.close();
  expect(collector.requests.at(-1)).toMatchObject({ authorization: 'Bearer secret', 'x-other': '1' });
  expect(collector.spans).toMatchObject([
    {
      traceId: 'a'.repeat(32),
      parentSpanId: 'b'.repeat(16),
      name: 'GET /work',
      kind: 'server',
      attributes: { a: 1, list: ['x', 'y'], ratio: 0.5, is: true, 'error.type': 'internal_error' },
      error: { message: 'no' },
      resource: {
        'service.name': 'runyard-test',
        'runyard.deployment.id': 'd',
        'deployment.environment.name': 'test',
      },
      schemaUrl: 'https://opentelemetry.io/schemas/1.41.0',
    },
  ]);
});

it.each([
  [{}, { root: true, sampled: true, unsampled: false }],
  [{ OTEL_TRACES_SAMPLER: 'always_on' }, { root: true, sampled: true, unsampled: true }],
  [{ OTEL_TRACES_SAMPLER: 'always_off' }, { root: false, sampled: false, unsampled: false }],
  [{ OTEL_TRACES_SAMPLER: 'parentbased_always_off' }, { root: false, sampled: true, unsampled: false }],
  [
    { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: 0 },
    { root: false, sampled: true, unsampled: false },
  ],
  [
    { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: 1 },
    { root: true, sampled: true, unsampled: true },
  ],
] as const)(
  'with %j a trace is recorded as that sampler decides, and says so to those who continue it',
  async (variables, expected) => {
    const tracing = await open(variables);
    const made = { root: makeSpan(tracing), sampled: makeSpan(tracing, '01'), unsampled: makeSpan(tracing, '00') };
    const flags = Object.fromEntries(
      Object.entries(made).map(([which, span]) => [which, span?.context.traceparent.endsWith('-01')]),
    );
    expect(flags).toEqual(expected);
    await tracing.close();
    expect(collector.spans).toHaveLength(Object.values(expected).filter(Boolean).length);
  },
);

const recorded: RecordedSpan = {
  spanId: 'c'.repeat(16),
  parentSpanId: 'b'.repeat(16),
  name: 'chat model',
  kind: 'client',
  startMs: 1_700_000_000_000.5,
  endMs: 1_700_000_000_250.75,
  attributes: { 'gen_ai.usage.input_tokens': 3 },
};

it('a span that another process recorded keeps its ids and times, and belongs to the trace that it is exported for', async () => {
  const tracing = await open();
  tracing.exportRecorded(parent('01'), [recorded, { ...recorded, error: { type: 'RangeError', message: 'no' } }]);
  tracing.exportRecorded(parent('00'), [recorded]);
  await tracing.close();
  expect(collector.spans).toMatchObject([
    {
      traceId: 'a'.repeat(32),
      spanId: 'c'.repeat(16),
      parentSpanId: 'b'.repeat(16),
      name: 'chat model',
      kind: 'client',
      startNs: 1_700_000_000_000_500_000n,
      endNs: 1_700_000_000_250_750_000n,
      attributes: { 'gen_ai.usage.input_tokens': 3 },
      error: undefined,
    },
    { error: { message: 'no' }, attributes: { 'error.type': 'RangeError' } },
  ]);
});

it('spans that a collector refuses are counted', async () => {
  const lost: number[] = [];
  const tracing = await openTracing({
    variables: { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/elsewhere` },
    serviceName: 'test',
    onLost: (spans) => lost.push(spans),
  });
  makeSpan(tracing);
  await tracing.close();
  expect(lost).toEqual([1]);
});

it('a process that another one starts sends its spans there too, and gets headers and passwords as secrets', () => {
  const variables = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://user:password@collector/v1/traces',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=secret',
    OTEL_TRACES_SAMPLER_ARG: 0.5,
    OTEL_SERVICE_NAME: 'control-plane',
    OTEL_TRACES_EXPORTER: '',
    PATH: '/bin',
  };
  expect(inheritedTracingVariables(variables)).toEqual({
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', OTEL_TRACES_SAMPLER_ARG: '0.5' },
    secrets: {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://user:password@collector/v1/traces',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=secret',
    },
  });
});
