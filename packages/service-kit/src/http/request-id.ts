import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const ACCEPTABLE = /^[A-Za-z0-9._:-]{1,128}$/;
const TRACE_PARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}/;

/** Returns the caller's id, if it is safe for logs and headers; otherwise a new one. */
export function requestIdOf(req: IncomingMessage): string {
  const given = req.headers['x-request-id'];
  return typeof given === 'string' && ACCEPTABLE.test(given) ? given : randomUUID();
}

/** Returns the id of the W3C trace that the request belongs to. */
export function traceIdOf(req: IncomingMessage): string | undefined {
  const parent = req.headers.traceparent;
  return typeof parent === 'string' ? TRACE_PARENT.exec(parent)?.[1] : undefined;
}
