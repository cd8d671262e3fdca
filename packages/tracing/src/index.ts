/**
 * OpenTelemetry traces for every service.
 *
 * - `tracingVariables`: the standard `OTEL_*` variables that are honoured.
 * - `inheritedTracingVariables`: the same for a process that this one starts.
 * - `openTracing`: spans that are exported by OTLP, or `TRACING_OFF` where nothing asks for traces.
 * - `readTraceContext`, `storedTraceContext`, `parseTraceparent`: the W3C trace context of a request, and of a run.
 * - `startRunSpan`, `runAttributes`: the spans that hand a run over to a worker.
 * - `readLangsmithTrace`: the part of LangSmith's headers that is believed.
 */
export { type LangsmithTrace, readLangsmithTrace } from './langsmith-trace.ts';
export { openTracing } from './open-tracing.ts';
export { runAttributes, startRunSpan } from './run-spans.ts';
export { readTraceContext, storedTraceContext, type TraceContext } from './trace-context.ts';
export {
  TRACING_OFF,
  type TraceSpan,
  type Tracing,
} from './tracing.ts';
export { inheritedTracingVariables, type TracingVariables, tracingVariables } from './variables.ts';
