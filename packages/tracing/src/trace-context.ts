import type { IncomingHttpHeaders } from 'node:http';

/** A place in a trace, as the W3C headers carry it, for the spans that continue it. */
export interface TraceContext {
  traceparent: string;
  tracestate?: string | undefined;
}

export interface ParsedTraceparent {
  traceId: string;
  spanId: string;
  isSampled: boolean;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const TRACESTATE = /^[\x20-\x7e]{1,512}$/;
const ZEROS = /^0+$/;
const SAMPLED = 1;

/** Reads a `traceparent`; undefined for one that is not valid, which then begins no trace and breaks none. */
export function parseTraceparent(text: string): ParsedTraceparent | undefined {
  const [, version, traceId, spanId, flags, rest] = TRACEPARENT.exec(text) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return undefined;
  if (ZEROS.test(traceId!) || ZEROS.test(spanId!)) return undefined;
  return { traceId: traceId!, spanId: spanId!, isSampled: (Number.parseInt(flags!, 16) & SAMPLED) === SAMPLED };
}

export function formatTraceparent({ traceId, spanId, isSampled }: ParsedTraceparent): string {
  return `00-${traceId}-${spanId}-0${isSampled ? SAMPLED : 0}`;
}

/** Returns the trace that a request belongs to; undefined when it names none, or none that is valid. */
export function readTraceContext({ traceparent, tracestate }: IncomingHttpHeaders): TraceContext | undefined {
  const parsed = typeof traceparent === 'string' ? parseTraceparent(traceparent) : undefined;
  if (parsed === undefined) return undefined;
  const state = typeof tracestate === 'string' && TRACESTATE.test(tracestate) ? tracestate : undefined;
  return { traceparent: formatTraceparent(parsed), ...(state !== undefined && { tracestate: state }) };
}

/** Reads a context that was stored under two keys; undefined when there is none, or none that is valid. */
export function storedTraceContext(traceparent: unknown, tracestate: unknown): TraceContext | undefined {
  if (typeof traceparent !== 'string' || !parseTraceparent(traceparent)) return undefined;
  return { traceparent, ...(typeof tracestate === 'string' && { tracestate }) };
}
