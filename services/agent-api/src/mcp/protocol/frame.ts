import { type Fields, isFields } from '../../http/fields.ts';
import { invalidRequest } from './mcp-error.ts';

export type RequestId = string | number;

export interface RequestFrame {
  kind: 'request';
  id: RequestId;
  method: string;
  params: Fields;
}

export interface NotificationFrame {
  kind: 'notification';
  method: string;
  params: Fields;
}

/** The client's answer to a request of this server. */
export interface ResponseFrame {
  kind: 'response';
  id: RequestId;
  /** Undefined for an error. */
  result: Fields | undefined;
}

/** A message of JSON-RPC. */
export type Frame = RequestFrame | NotificationFrame | ResponseFrame;

/** @throws McpError */
export function readFrame(body: unknown): Frame {
  if (!isFields(body)) throw invalidRequest('The message must be one object; batches are not taken');
  const { jsonrpc, id, method, params = {} } = body;
  if (jsonrpc !== '2.0') throw invalidRequest('jsonrpc must be "2.0"');
  if (id !== undefined && !isRequestId(id)) throw invalidRequest('id must be a text or a whole number');
  if (method === undefined && id !== undefined && (isFields(body.result) || isFields(body.error))) {
    return { kind: 'response', id, result: isFields(body.result) ? body.result : undefined };
  }
  if (typeof method !== 'string') throw invalidRequest('method must be a text');
  if (!isFields(params)) throw invalidRequest('params must be an object');
  return id === undefined ? { kind: 'notification', method, params } : { kind: 'request', id, method, params };
}

/** Returns the id of a body, for the error that answers it; undefined where there is none. */
export function idOf(body: unknown): RequestId | undefined {
  return isFields(body) && isRequestId(body.id) ? body.id : undefined;
}

function isRequestId(id: unknown): id is RequestId {
  return typeof id === 'string' || (typeof id === 'number' && Number.isSafeInteger(id));
}
