/** Traces requests: one server span each, which continues the trace of the caller. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import {
  readLangsmithTrace,
  readTraceContext,
  type TraceContext,
  type TraceSpan,
  type Tracing,
} from '@runyard/tracing';
import { redactPath } from './redact-path.ts';

/** Requests that monitoring repeats for ever. */
const NOT_TRACED: ReadonlySet<string> = new Set(['/ok', '/metrics']);
/** Methods as the conventions know them; another one could be any text. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The places in traces that requests have here, by their headers: handlers see those of a request in every form. */
const contexts = new WeakMap<IncomingHttpHeaders, TraceContext>();

/** Begins the span of a request; undefined when there is none. */
export function startRequestSpan(tracing: Tracing, req: IncomingMessage): TraceSpan | undefined {
  if (!tracing.isOn) return undefined;
  const path = (req.url ?? '/').split('?', 1)[0] as string;
  if (NOT_TRACED.has(path)) return undefined;
  const span = tracing.startSpan({
    name: methodOf(req),
    kind: 'server',
    parent: readTraceContext(req.headers),
    attributes: {
      'http.request.method': methodOf(req),
      'url.path': redactPath(path),
      'url.scheme': 'http',
      'network.protocol.version': req.httpVersion,
    },
  });
  if (span) contexts.set(req.headers, span.context);
  return span;
}

/** Ends the span of a request. @param route a template, or another name of few values; `none` for no route */
export function endRequestSpan(
  span: TraceSpan,
  req: IncomingMessage,
  { route, status, errorCode }: { route: string; status: number; errorCode?: string | undefined },
): void {
  if (route !== 'none') {
    span.rename(`${methodOf(req)} ${route}`);
    span.setAttributes({ 'http.route': route });
  }
  span.setAttributes({
    'http.response.status_code': status,
    ...(errorCode !== undefined && { 'runyard.error.code': errorCode }),
  });
  if (status >= 500) span.fail({ type: errorCode ?? String(status) });
  span.end();
}

/**
 * Returns the trace that work for a request belongs to: its own span, or that of its caller where this process makes
 * none.
 */
export function traceContextOf(headers: IncomingHttpHeaders): TraceContext | undefined {
  return contexts.get(headers) ?? readTraceContext(headers);
}

/** Replaces the `baggage` of a request by the part of it that is believed, which is none for most. */
export function limitBaggage(headers: IncomingHttpHeaders): void {
  if (headers.baggage === undefined) return;
  const believed = readLangsmithTrace(headers)?.baggage;
  if (believed === undefined) delete headers.baggage;
  else headers.baggage = believed;
}

function methodOf({ method = 'GET' }: IncomingMessage): string {
  return METHODS.has(method) ? method : '_OTHER';
}
