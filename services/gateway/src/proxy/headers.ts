import type { IncomingMessage } from 'node:http';
import { PRINCIPAL_HEADER } from '@runyard/contracts';
import type { Admission } from '../authentication/admission.ts';

/** Meant for one connection, not for the other end (RFC 9110, 7.6.1); and what the gateway alone may say. */
const NEVER_FORWARDED: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'content-length',
  PRINCIPAL_HEADER,
  'x-request-id',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded-port',
  'x-forwarded-prefix',
  'x-real-ip',
  'forwarded',
]);

export interface ForwardedAs {
  admission: Admission;
  requestId: string;
  /** What was taken off the path, for example `/deployments/hello-agent`. */
  prefix: string;
  /** Believe the forwarding headers of the caller. */
  trustForwarded: boolean;
}

/** The headers for the upstream, as a flat list of names and values, duplicates kept. */
export function requestHeaders(
  req: IncomingMessage,
  { admission, requestId, prefix, trustForwarded }: ForwardedAs,
): string[] {
  const named = connectionNames(req.headers.connection);
  const { consumes, principal } = admission;
  const headers: string[] = [];
  for (let index = 0; index < req.rawHeaders.length; index += 2) {
    const name = req.rawHeaders[index]!.toLowerCase();
    if (NEVER_FORWARDED.has(name) || named?.has(name)) continue;
    if (name === 'x-api-key' && (consumes === 'x-api-key' || consumes === 'both')) continue;
    if (name === 'authorization' && (consumes === 'authorization' || consumes === 'both')) continue;
    headers.push(name, req.rawHeaders[index + 1]!);
  }
  headers.push('x-request-id', requestId);
  headers.push('x-forwarded-for', clientAddresses(req, trustForwarded));
  headers.push('x-forwarded-proto', (trustForwarded && first(req.headers['x-forwarded-proto'])) || 'http');
  const host = (trustForwarded && first(req.headers['x-forwarded-host'])) || req.headers.host;
  if (host) headers.push('x-forwarded-host', host);
  if (prefix !== '') headers.push('x-forwarded-prefix', prefix);
  if (principal) headers.push(PRINCIPAL_HEADER, principal.token);
  return headers;
}

const NOT_RETURNED: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-request-id',
]);

/**
 * The upstream's headers for the client. `announcesLength` tells whether a body of known length follows; `closes` tells the
 * client that the connection takes no further request.
 */
export function responseHeaders(
  raw: readonly (Buffer | string)[],
  requestId: string,
  closes = false,
): { list: string[]; announcesLength: boolean } {
  const list: string[] = [];
  let named: ReadonlySet<string> | undefined;
  let announcesLength = false;
  for (let index = 0; index < raw.length; index += 2) {
    if (text(raw[index]!).toLowerCase() === 'connection') named = connectionNames(text(raw[index + 1]!));
  }
  for (let index = 0; index < raw.length; index += 2) {
    const name = text(raw[index]!).toLowerCase();
    if (NOT_RETURNED.has(name) || named?.has(name)) continue;
    if (name === 'content-length') announcesLength = true;
    list.push(name, text(raw[index + 1]!));
  }
  list.push('x-request-id', requestId);
  if (closes) list.push('connection', 'close');
  return { list, announcesLength };
}

function text(value: Buffer | string): string {
  return typeof value === 'string' ? value : value.toString('latin1');
}

/** The headers a `Connection` header declares to be for this connection alone. */
function connectionNames(connection: string | undefined): ReadonlySet<string> | undefined {
  if (connection === undefined || /^(keep-alive|close)$/i.test(connection)) return undefined;
  return new Set(
    connection
      .toLowerCase()
      .split(',')
      .map((name) => name.trim()),
  );
}

function clientAddresses(req: IncomingMessage, trustForwarded: boolean): string {
  const remote = req.socket.remoteAddress ?? 'unknown';
  const before = trustForwarded ? req.headers['x-forwarded-for'] : undefined;
  return before === undefined ? remote : `${before}, ${remote}`;
}

function first(value: string | string[] | undefined): string | undefined {
  return (Array.isArray(value) ? value[0] : value)?.split(',')[0]?.trim();
}
