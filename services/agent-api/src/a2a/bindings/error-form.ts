import type { ErrorForm } from '@runyard/service-kit';
import { A2aError, toHttpErrorBody, toRpcError, toV03HttpErrorBody } from '../protocol/a2a-error.ts';
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
    const isMalformed = reply.status === 422;
    const id = callIdOf(req);
    // The id of a call is known once its JSON was read.
    const reason = id === null ? 'PARSE_ERROR' : 'INVALID_PARAMS';
    const error = new A2aError(isMalformed ? reason : 'INTERNAL_ERROR', message);
    const body = { jsonrpc: '2.0', id, error: toRpcError(error) };
    return { ...reply, ...(isMalformed ? { status: 200, body } : { body: { ...body, detail: message } }) };
  }
  if (!REST_PATH.test(path)) return reply;
  const status = reply.status === 422 ? 400 : reply.status;
  if (!V03_REST_PATH.test(path)) return { ...reply, status, body: toHttpErrorBody(status, message) };
  const error = new A2aError(status === 400 ? 'INVALID_PARAMS' : 'INTERNAL_ERROR', message);
  return { ...reply, status, body: toV03HttpErrorBody(error) };
};
