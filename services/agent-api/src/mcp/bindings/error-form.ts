import type { ErrorForm } from '@runyard/service-kit';
import { callIdOf } from '../../a2a/bindings/call-ids.ts';
import { internalError, invalidParams, invalidRequest, parseError, toRpcError } from '../protocol/mcp-error.ts';

const PATH = /^\/mcp\/?(?:\?|$)/;

/**
 * Gives errors outside of methods the form of the protocol: bad JSON, credentials, limits and outages. They keep their
 * status and their `detail`, but for what is no JSON.
 */
export const mcpErrorForm: ErrorForm = (req, reply) => {
  if (!PATH.test(req.url ?? '')) return reply;
  const detail = typeof reply.body.detail === 'string' ? reply.body.detail : 'The request is not valid';
  const isMalformed = reply.status === 422;
  const id = callIdOf(req);
  // The id of a call is known once its JSON was read.
  const malformed = id === null ? parseError : invalidParams;
  const error = isMalformed ? malformed(detail) : reply.status < 500 ? invalidRequest(detail) : internalError(detail);
  const body = { jsonrpc: '2.0', ...(id !== null && { id }), error: toRpcError(error), detail };
  return { ...reply, status: isMalformed ? 400 : reply.status, body };
};
