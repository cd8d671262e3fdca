import Type from 'typebox';
import { ErrorResponse, ValidationErrorResponse } from './http/common.ts';
import type { Operation, OperationResponse } from './operation.ts';
import { isOfWorkspace } from './permissions.ts';

/** The servers in front of a service: the gateway alone, or the gateway and the deployment it routes to. */
export type Edge = 'platform' | 'deployment';

const error = (description: string, headers?: Record<string, string>): OperationResponse => ({
  description,
  schema: ErrorResponse,
  ...(headers && { headers }),
});
const RETRY_AFTER = { 'Retry-After': 'Seconds after which to ask again.' };

const UNAUTHORIZED = error('No valid credential.');
const OUT_OF_REACH = error('The credential does not reach the workspace that was named.');
const NO_WORKSPACE = error('The workspace that was named is deleted.');
const NO_DEPLOYMENT = error('No such deployment, or not visible to the caller.');
const TOO_LARGE = error('The body is larger than the limit.');
const INVALID: Record<Edge, OperationResponse> = {
  platform: { description: 'The request does not match the contract.', schema: ValidationErrorResponse },
  deployment: error('The request does not match the contract.'),
};
const ALWAYS: Record<number, OperationResponse> = {
  400: error('The request is no well-formed HTTP request, or contradicts itself.'),
  408: error('The request did not arrive in time.'),
  429: error('Too many requests.', RETRY_AFTER),
  431: error('The address and the headers are larger than the limit.'),
  502: error('The service did not answer as it should.'),
  503: error('No room, or a part that is needed is away.', RETRY_AFTER),
};

/**
 * Returns all answers to an operation. Where its service gives errors a form of its own, any of them may also come from
 * the edge, which knows no operation.
 */
export function responsesBehind(edge: Edge, operation: Operation): Record<number, OperationResponse> {
  const { errors, responses } = operation;
  const added = edgeResponses(operation, edge);
  if (errors !== undefined) {
    for (const [status, response] of Object.entries(added)) {
      const own = responses[Number(status)];
      if (response.schema !== ErrorResponse) continue;
      added[Number(status)] = { ...response, ...own, schema: Type.Union([own?.schema ?? errors, ErrorResponse]) };
    }
    return { ...responses, ...added };
  }
  return { ...added, ...responses };
}

/** Returns the answers that the edge, the HTTP server and the validation add to those of an operation. */
function edgeResponses(operation: Operation, edge: Edge): Record<number, OperationResponse> {
  const { access, body, params, permission, query } = operation;
  const responses = { ...ALWAYS };
  if (access === 'principal') {
    responses[401] = UNAUTHORIZED;
    if (edge === 'platform') responses[403] = OUT_OF_REACH;
    if (edge === 'platform' && isOfWorkspace(permission)) responses[404] = NO_WORKSPACE;
  }
  if (edge === 'deployment') responses[404] = NO_DEPLOYMENT;
  if (body) responses[413] = TOO_LARGE;
  if (params || query || body) responses[422] = INVALID[edge];
  return responses;
}
