import type { IncomingHttpHeaders } from 'node:http';

/** The run of a caller's own LangSmith trace that a run here continues, as LangSmith's headers carry it. */
export interface LangsmithTrace {
  trace: string;
  /** The members of `baggage` that are believed. */
  baggage?: string | undefined;
}

/** A dotted order: for each level of the trace a time and the id of a run. */
const TRACE = /^\d{8}T\d{6,12}Z[0-9a-f-]{36}(?:\.\d{8}T\d{6,12}Z[0-9a-f-]{36}){0,63}$/i;
/** `langsmith-replicas` names servers, and would make this one send what it knows to them. */
const BELIEVED: ReadonlySet<string> = new Set(['langsmith-metadata', 'langsmith-tags', 'langsmith-project']);
const BAGGAGE_BYTES_MAX = 8192;

/**
 * Reads LangSmith's headers of a request. Baggage that others sent is never passed on as it came: without
 * `langsmith-trace` none of it counts, and with it three members that say how the trace is labelled.
 */
export function readLangsmithTrace(headers: IncomingHttpHeaders): LangsmithTrace | undefined {
  const trace = headers['langsmith-trace'];
  if (typeof trace !== 'string' || !TRACE.test(trace)) return undefined;
  const baggage = believedBaggage(headers.baggage);
  return { trace, ...(baggage !== '' && { baggage }) };
}

function believedBaggage(sent: unknown): string {
  if (typeof sent !== 'string' || sent.length > BAGGAGE_BYTES_MAX) return '';
  return sent
    .split(',')
    .map((member) => member.split(';', 1)[0]!.trim())
    .filter((member) => BELIEVED.has(member.split('=', 1)[0]!.trim()))
    .join(',');
}
