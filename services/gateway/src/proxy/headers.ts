import type { IncomingMessage } from 'node:http';
import {
  DEPLOYMENT_TOKEN_HEADER,
  HANDOFF_HEADER,
  MOUNT_PREFIX_HEADER,
  PRINCIPAL_HEADER,
  UNPROCESSED_HEADER,
} from '@runyard/contracts';
import { HOP_BY_HOP } from '@runyard/contracts/hop-by-hop';
import { ADDRESS_PROOF_HEADER, clientAddressHeaders, traceContextOf } from '@runyard/service-kit';
import { readLangsmithTrace } from '@runyard/tracing';
import type { AdmittedCaller } from '../authentication/admission.ts';
import { firstValue, requestedHost } from '../requests/request-host.ts';
import { type AnswerSource, forwardedCookies, mayAnswerWith, type PlatformCookies } from './origin-rules.ts';

/** Headers that only the gateway may set are not accepted from others. */
const NEVER_FORWARDED: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  'content-length',
  PRINCIPAL_HEADER,
  HANDOFF_HEADER,
  'x-request-id',
  'x-forwarded-for',
  ADDRESS_PROOF_HEADER,
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded-port',
  'x-forwarded-prefix',
  'x-real-ip',
  'forwarded',
  // Those of the gateway's own span, or what is valid of the caller's, is added instead.
  'traceparent',
  'tracestate',
  'baggage',
  'langsmith-trace',
]);

export interface RequestHeaderOptions {
  caller: AdmittedCaller;
  requestId: string;
  /** The part taken off the path, for example `/deployments/hello-agent`; empty at a host of the deployment's own. */
  prefix: string;
  /** The cookies of the platform that are for the receiver. */
  platformCookies: PlatformCookies;
  /** The address of the client. Services take it as it is: the gateway alone decides whose word it is. */
  clientAddress: string;
  /** Proves the address to a service of the platform; undefined for a deployment. */
  internalToken: string | undefined;
  /** True when the forwarding headers of the caller are believed. */
  trustForwarded: boolean;
  /**
   * Set when the gateway takes the answer over if its upstream stops, or when the answer is itself a continuation after
   * an event.
   */
  handoff?: 'accepted' | { afterId: string | undefined };
}

/**
 * Headers that a request for a continuation leaves out: about the first request's body, or how much of the answer is
 * wanted.
 */
const NOT_CONTINUED: ReadonlySet<string> = new Set([
  'content-type',
  'content-encoding',
  'accept-encoding',
  'idempotency-key',
  'last-event-id',
  'range',
]);

/** Returns the headers for the upstream, as a flat list of names and values, duplicates kept. */
export function requestHeaders(req: IncomingMessage, options: RequestHeaderOptions): string[] {
  const { caller, requestId, prefix, platformCookies, clientAddress, internalToken, trustForwarded, handoff } = options;
  const named = connectionNames(req.headers.connection);
  const { consumes, principal } = caller;
  const headers: string[] = [];
  const isContinuing = typeof handoff === 'object';
  for (let index = 0; index < req.rawHeaders.length; index += 2) {
    const name = req.rawHeaders[index]!.toLowerCase();
    if (NEVER_FORWARDED.has(name) || named?.has(name)) continue;
    if (isContinuing && NOT_CONTINUED.has(name)) continue;
    if (name === 'x-api-key' && (consumes === 'x-api-key' || consumes === 'both')) continue;
    if (name === 'authorization' && (consumes === 'authorization' || consumes === 'both')) continue;
    // It is for the OAuth broker alone, as the cookies of that are: no deployment gets the token of another.
    if (name === DEPLOYMENT_TOKEN_HEADER && platformCookies !== 'oauth') continue;
    const sent = req.rawHeaders[index + 1]!;
    const value = name === 'cookie' ? forwardedCookies(sent, platformCookies) : sent;
    if (value !== undefined) headers.push(name, value);
  }
  headers.push('x-request-id', requestId, ...traceHeaders(req));
  if (internalToken === undefined) headers.push('x-forwarded-for', clientAddress);
  else headers.push(...Object.entries(clientAddressHeaders(internalToken, clientAddress)).flat());
  headers.push('x-forwarded-proto', (trustForwarded && firstValue(req.headers['x-forwarded-proto'])) || 'http');
  const host = requestedHost(req, trustForwarded);
  if (host) headers.push('x-forwarded-host', host);
  if (prefix !== '') headers.push('x-forwarded-prefix', prefix);
  if (principal) headers.push(PRINCIPAL_HEADER, principal.token);
  if (handoff) headers.push(HANDOFF_HEADER, isContinuing ? 'continued' : 'accepted');
  if (isContinuing && handoff.afterId !== undefined) headers.push('last-event-id', handoff.afterId);
  return headers;
}

/** Returns the headers by which the receiver continues the trace. Baggage of strangers is not among them. */
function traceHeaders({ headers }: IncomingMessage): string[] {
  const context = traceContextOf(headers);
  const langsmith = readLangsmithTrace(headers);
  return [
    ...(context ? ['traceparent', context.traceparent] : []),
    ...(context?.tracestate === undefined ? [] : ['tracestate', context.tracestate]),
    ...(langsmith ? ['langsmith-trace', langsmith.trace] : []),
    ...(langsmith?.baggage === undefined ? [] : ['baggage', langsmith.baggage]),
  ];
}

const NOT_RETURNED: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  'x-request-id',
  UNPROCESSED_HEADER,
  MOUNT_PREFIX_HEADER,
]);

export interface AnswerHeaders {
  /** The headers for the client. */
  list: string[];
  /** True when a body of known length follows. */
  announcesLength: boolean;
  /** True when the upstream closes the connection after this answer. */
  isClosing: boolean;
  /** True when the upstream did nothing with the request. */
  isUntouched: boolean;
}

export interface AnswerHeaderOptions {
  /** Names and values. */
  ownHeaders: readonly string[];
  source: AnswerSource;
  closes?: boolean;
}

/**
 * Returns the upstream's headers and the gateway's own; `closes` tells the client that its connection takes no further
 * request. That is left out of an answer of unknown length: cut, it would look whole to clients that take the close for
 * its end.
 */
export function responseHeaders(
  raw: readonly (Buffer | string)[],
  { ownHeaders, source, closes = false }: AnswerHeaderOptions,
): AnswerHeaders {
  const answer: AnswerHeaders = { list: [], announcesLength: false, isClosing: false, isUntouched: false };
  let named: ReadonlySet<string> | undefined;
  for (let index = 0; index < raw.length; index += 2) {
    const name = text(raw[index]!).toLowerCase();
    if (name === 'connection') {
      const connection = text(raw[index + 1]!);
      named = connectionNames(connection);
      answer.isClosing = /\bclose\b/i.test(connection);
    } else if (name === UNPROCESSED_HEADER) answer.isUntouched = true;
  }
  for (let index = 0; index < raw.length; index += 2) {
    const name = text(raw[index]!).toLowerCase();
    if (NOT_RETURNED.has(name) || named?.has(name)) continue;
    const value = text(raw[index + 1]!);
    if (!mayAnswerWith(name, value, source)) continue;
    if (name === 'content-length') answer.announcesLength = true;
    answer.list.push(name, value);
  }
  answer.list.push(...ownHeaders);
  if (closes && answer.announcesLength) answer.list.push('connection', 'close');
  return answer;
}

function text(value: Buffer | string): string {
  return typeof value === 'string' ? value : value.toString('latin1');
}

/** Returns the headers that a `Connection` header declares to be for this connection alone. */
function connectionNames(connection: string | undefined): ReadonlySet<string> | undefined {
  if (connection === undefined || /^(keep-alive|close)$/i.test(connection)) return undefined;
  return new Set(
    connection
      .toLowerCase()
      .split(',')
      .map((name) => name.trim()),
  );
}
