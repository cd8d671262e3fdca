import { TRACEPARENT_KEY, TRACESTATE_KEY } from '@runyard/contracts';
import { storedTraceContext, type TraceContext } from '@runyard/tracing';

/** Returns the trace that a run continues, from its arguments; undefined when it belongs to none. */
export function traceOfRun(kwargs: Record<string, unknown>): TraceContext | undefined {
  const { configurable } = (kwargs.config ?? {}) as { configurable?: Record<string, unknown> };
  return storedTraceContext(configurable?.[TRACEPARENT_KEY], configurable?.[TRACESTATE_KEY]);
}
