/** Turns messages of Node's HTTP server into those of `fetch`, and back. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import type { Body } from './request-body.ts';

/** A request as it goes on to the server: the body apart, in the form that middleware left. */
export interface PassedRequest {
  request: Request;
  body: Body;
}

/**
 * Returns a request for the server. It is aborted when the client leaves.
 *
 * @param parsed what a parser made of the body, in case it was read
 * @throws Error when the body was read and nothing was left of it
 */
export function toPassedRequest(req: IncomingMessage, res: ServerResponse, parsed: unknown): PassedRequest {
  const headers = new Headers();
  for (const [name, value] of Object.entries(req.headers)) {
    for (const each of [value].flat()) if (each !== undefined) headers.append(name, each);
  }
  const left = new AbortController();
  res.once('close', () => {
    if (!res.writableFinished) left.abort();
  });
  const hasBody = req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;
  const body = !hasBody ? null : req.readableDidRead ? toBody(parsed, headers) : toWebStream(req);
  // The address is not resolved against a base: a path may begin with two slashes.
  const url = new URL(`http://${req.headers.host ?? 'localhost'}${req.url ?? '/'}`);
  return { request: new Request(url, { method: req.method ?? 'GET', headers, signal: left.signal }), body };
}

/** Returns a body that was read, with headers that fit it. */
function toBody(parsed: unknown, headers: Headers): Body {
  if (parsed === undefined) {
    throw new Error('Middleware of the project has read the body of a request without leaving it at `body`.');
  }
  if (parsed instanceof Readable) return toWebStream(parsed);
  // A parser has unpacked it.
  headers.delete('content-encoding');
  if (typeof parsed === 'string') return parsed;
  if (Buffer.isBuffer(parsed)) return new Uint8Array(parsed).buffer;
  headers.set('content-type', 'application/json');
  return JSON.stringify(parsed);
}

const toWebStream = (stream: Readable) => Readable.toWeb(stream) as unknown as ReadableStream;

/** Returns the headers of an answer with those that may be repeated as a list. */
export function headersOf(response: Response): Record<string, string | string[]> {
  const cookies = response.headers.getSetCookie();
  return { ...Object.fromEntries(response.headers), ...(cookies.length > 0 && { 'set-cookie': cookies }) };
}

/** Writes an answer, beside headers that middleware has set. */
export async function sendResponse(res: ServerResponse, response: Response): Promise<void> {
  res.statusCode = response.status;
  for (const [name, value] of Object.entries(headersOf(response))) res.setHeader(name, value);
  if (response.body === null) {
    res.end();
    return;
  }
  res.flushHeaders();
  await pipeline(Readable.fromWeb(response.body as unknown as NodeReadableStream), res);
}
