import type { ErrorForm } from '@runyard/service-kit';
import { codeOfStatus } from './protocol-response.ts';

/** The paths of the event protocol. */
const PROTOCOL_PATH = /^\/threads\/[^/]+\/(commands|stream\/events)\/?(\?|$)/;

/** Gives errors of the event protocol's paths the form of its error responses, `detail` among them. */
export const protocolErrorForm: ErrorForm = (req, reply) => {
  if (!PROTOCOL_PATH.test(req.url ?? '')) return reply;
  const { detail } = reply.body;
  const error = codeOfStatus(reply.status);
  const status = reply.status === 422 ? 400 : reply.status;
  return { ...reply, status, body: { type: 'error', id: null, error, message: detail, detail } };
};
