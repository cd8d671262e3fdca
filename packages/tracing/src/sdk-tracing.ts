/** Traces made with the libraries of OpenTelemetry. They are loaded only where traces are asked for. */
import { randomUUID } from 'node:crypto';
import {
  type Context,
  createTraceState,
  SpanKind as OtelKind,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, type ReadableSpan, TracerProvider } from '@opentelemetry/sdk-trace';
import type { OpenTracingOptions } from './open-tracing.ts';
import { ReportingExporter } from './reporting-exporter.ts';
import { createSampler } from './sampler.ts';
import type { TracingSettings } from './settings.ts';
import { formatTraceparent, type ParsedTraceparent, parseTraceparent, type TraceContext } from './trace-context.ts';
import type { Attributes, RecordedSpan, SpanFailure, SpanKind, SpanStart, TraceSpan, Tracing } from './tracing.ts';

/** The release of the conventions that names of spans and attributes follow. */
const SCOPE = { name: 'runyard', version: '1', schemaUrl: 'https://opentelemetry.io/schemas/1.41.0' };
/** Milliseconds that a stop waits for a collector; it must not hold up the process. */
const CLOSE_MS = 2_000;

const KINDS: Record<SpanKind, OtelKind> = {
  internal: OtelKind.INTERNAL,
  server: OtelKind.SERVER,
  client: OtelKind.CLIENT,
  producer: OtelKind.PRODUCER,
  consumer: OtelKind.CONSUMER,
};

export class SdkTracing implements Tracing {
  readonly isOn = true;
  readonly capturesContent: boolean;
  readonly #resource: Resource;
  readonly #processor: BatchSpanProcessor;
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;

  constructor(settings: TracingSettings, { serviceName, resourceAttributes, onLost }: OpenTracingOptions) {
    this.capturesContent = settings.capturesContent;
    this.#resource = resourceFromAttributes({
      'service.name': serviceName,
      'service.instance.id': randomUUID(),
      ...resourceAttributes,
      ...settings.resourceAttributes,
      ...(settings.serviceName !== undefined && { 'service.name': settings.serviceName }),
    });
    const exporter = new OTLPTraceExporter({ url: settings.url, headers: settings.headers });
    const { scheduleDelayMs, maxQueueSize } = settings;
    this.#processor = new BatchSpanProcessor({
      exporter: new ReportingExporter(exporter, onLost),
      ...(scheduleDelayMs !== undefined && { scheduledDelayMillis: scheduleDelayMs }),
      ...(maxQueueSize !== undefined && { maxQueueSize }),
    });
    this.#provider = new TracerProvider({
      resource: this.#resource,
      sampler: createSampler(settings),
      spanProcessors: [this.#processor],
    });
    this.#tracer = this.#provider.getTracer(SCOPE.name, SCOPE.version, { schemaUrl: SCOPE.schemaUrl });
  }

  startSpan({ name, kind, parent, attributes = {} }: SpanStart): TraceSpan {
    return new SdkSpan(this.#tracer.startSpan(name, { kind: KINDS[kind], attributes }, toContext(parent)));
  }

  exportRecorded(context: TraceContext, spans: readonly RecordedSpan[]): void {
    const place = parseTraceparent(context.traceparent);
    if (!place?.isSampled) return;
    for (const span of spans) this.#processor.onEnd(toReadableSpan(span, place.traceId, this.#resource));
  }

  async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_MS);
    });
    await Promise.race([this.#provider.shutdown().catch(() => undefined), late]);
    clearTimeout(timer);
  }
}

class SdkSpan implements TraceSpan {
  readonly #span: Span;

  constructor(span: Span) {
    this.#span = span;
  }

  get traceId(): string {
    return this.#span.spanContext().traceId;
  }

  get spanId(): string {
    return this.#span.spanContext().spanId;
  }

  get isRecorded(): boolean {
    return this.#span.isRecording();
  }

  get context(): TraceContext {
    const { traceId, spanId, traceFlags, traceState } = this.#span.spanContext();
    const isSampled = (traceFlags & TraceFlags.SAMPLED) !== 0;
    const tracestate = traceState?.serialize();
    return { traceparent: formatTraceparent({ traceId, spanId, isSampled }), ...(tracestate && { tracestate }) };
  }

  rename(name: string): void {
    this.#span.updateName(name);
  }

  setAttributes(attributes: Attributes): void {
    this.#span.setAttributes(attributes);
  }

  fail({ type, message }: SpanFailure): void {
    this.#span.setAttribute('error.type', type);
    this.#span.setStatus({ code: SpanStatusCode.ERROR, ...(message !== undefined && { message }) });
  }

  link({ traceparent }: TraceContext): void {
    const place = parseTraceparent(traceparent);
    if (place) this.#span.addLink({ context: toSpanContext(place) });
  }

  end(): void {
    if (this.#span.isRecording()) this.#span.end();
  }
}

function toContext(parent: TraceContext | undefined): Context {
  const place = parent && parseTraceparent(parent.traceparent);
  if (!place) return ROOT_CONTEXT;
  return trace.setSpanContext(ROOT_CONTEXT, {
    ...toSpanContext(place),
    ...(parent?.tracestate !== undefined && { traceState: createTraceState(parent.tracestate) }),
  });
}

function toSpanContext({ traceId, spanId, isSampled }: ParsedTraceparent): SpanContext {
  return { traceId, spanId, traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE, isRemote: true };
}

function toReadableSpan(span: RecordedSpan, traceId: string, resource: Resource): ReadableSpan {
  const { name, kind, startMs, endMs, attributes, error } = span;
  const contextOf = (spanId: string): SpanContext => ({ traceId, spanId, traceFlags: TraceFlags.SAMPLED });
  return {
    name,
    kind: KINDS[kind],
    spanContext: () => contextOf(span.spanId),
    parentSpanContext: contextOf(span.parentSpanId),
    startTime: toHrTime(startMs),
    endTime: toHrTime(endMs),
    duration: toHrTime(Math.max(0, endMs - startMs)),
    ended: true,
    status: error ? { code: SpanStatusCode.ERROR, message: error.message } : { code: SpanStatusCode.UNSET },
    attributes: error ? { ...attributes, 'error.type': error.type } : attributes,
    links: [],
    events: [],
    resource,
    instrumentationScope: SCOPE,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

/** Converts milliseconds to seconds and nanoseconds. */
function toHrTime(ms: number): [number, number] {
  return [Math.trunc(ms / 1000), Math.round((ms % 1000) * 1e6)];
}
