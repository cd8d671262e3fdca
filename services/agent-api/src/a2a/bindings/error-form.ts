import type { ErrorForm } from '@runyard/service-kit';
import { mayBeJson } from '../../http/json-content.ts';
import {
  A2aError,
  type A2aErrorReason,
  toHttpErrorBody,
  toRpcError,
  toV03HttpErrorBody,
} from '../protocol/a2a-error.ts';
import { callIdOf } from './call-ids.ts';

const RPC_PATH = /^\/a2a\/[^/?]+\/?(?:\?|$)/;
const V03_REST_PATH = /^\/a2a\/[^/?]+\/v1\//;
const REST_PATH = /^\/a2a\/[^/?]+\/(?!(?:1\.0\/)?\.well-known\/)/;

/**
 * Gives errors outside of methods the form of the binding: bad JSON, credentials, limits and outages. They keep their
 * status and their `detail`, but for what is wrong with a request itself.
 */
export const a2aErrorForm: ErrorForm = (req, reply) => {
  const path = req.url ?? '';
  const message = typeof reply.body.detail === 'string' ? reply.body.detail : 'The request is not valid';
  if (req.method === 'POST' && RPC_PATH.test(path)) {
    const id = callIdOf(req);
    // The id of a call is known once its JSON was read.
    const unread = mayBeJson(req) ? 'PARSE_ERROR' : 'CONTENT_TYPE_NOT_SUPPORTED';
    const malformed = id === null ? unread : 'INVALID_PARAMS';
    const reason = reply.status === 422 ? malformed : reasonOf(reply.status);
    const body = { jsonrpc: '2.0', id, error: toRpcError(new A2aError(reason, message)) };
    const isOfHttp = reason === 'INTERNAL_ERROR';
    return { ...reply, ...(isOfHttp ? { body: { ...body, detail: message } } : { status: 200, body }) };
  }
  if (!REST_PATH.test(path)) return reply;
  const status = [415, 422].includes(reply.status) ? 400 : reply.status;
  const reason = status === 400 && reply.status !== 415 ? 'INVALID_PARAMS' : reasonOf(reply.status);
  const error = new A2aError(reason, message);
  if (V03_REST_PATH.test(path)) return { ...reply, status, body: toV03HttpErrorBody(error) };
  return { ...reply, status, body: toHttpErrorBody(status, message, error) };
};

function reasonOf(status: number): A2aErrorReason {
  return status === 415 ? 'CONTENT_TYPE_NOT_SUPPORTED' : 'INTERNAL_ERROR';
}
