import type { ServerResponse } from 'node:http';

/** An answer. It is JSON unless `content-type` says otherwise; then `body` is text or bytes and sent unchanged. */
export interface Reply {
  status: number;
  body?: unknown;
  /** A header with several values, such as `Set-Cookie`, has a list. */
  headers?: Record<string, string | string[]>;
}

export function ok(body: unknown, headers?: Record<string, string>): Reply {
  return { status: 200, body, ...(headers && { headers }) };
}

export function created(body: unknown, headers?: Record<string, string>): Reply {
  return { status: 201, body, ...(headers && { headers }) };
}

export function noContent(headers?: Record<string, string>): Reply {
  return { status: 204, ...(headers && { headers }) };
}

/** Sends a browser elsewhere with GET, whatever it asked here. */
export function redirect(location: string, headers?: Record<string, string | string[]>): Reply {
  return { status: 303, headers: { 'cache-control': 'no-store', ...headers, location } };
}

/** Sends a reply; its headers override those that are set already. */
export function sendReply(res: ServerResponse, reply: Reply): void {
  const headers: Record<string, string | string[] | number> = { ...reply.headers };
  if (reply.body === undefined) {
    if (reply.status !== 204 && reply.status !== 304) headers['content-length'] = 0;
    res.writeHead(reply.status, headers).end();
    return;
  }
  const raw = headers['content-type'] !== undefined && isText(reply.body);
  const payload = raw ? (reply.body as string | Uint8Array) : JSON.stringify(reply.body);
  headers['content-type'] ??= 'application/json';
  headers['content-length'] = typeof payload === 'string' ? Buffer.byteLength(payload) : payload.byteLength;
  res.writeHead(reply.status, headers).end(payload);
}

function isText(body: unknown): boolean {
  return typeof body === 'string' || body instanceof Uint8Array;
}
