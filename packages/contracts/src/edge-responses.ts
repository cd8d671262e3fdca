import Type from 'typebox';
import { ErrorResponse, ValidationErrorResponse } from './http/common.ts';
import type { Operation, OperationResponse } from './operation.ts';
import { isOfWorkspace } from './permissions.ts';

/** The servers in front of a service: the gateway alone, or the gateway and the deployment it routes to. */
export type Edge = 'platform' | 'deployment';

const JSON_TYPE = 'application/json';

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
 * Returns all answers to an operation. Whatever form its service gives to errors, those of the edge, which knows no
 * operation, have the usual one.
 */
export function responsesBehind(edge: Edge, operation: Operation): Record<number, OperationResponse> {
  const { errors, responses } = operation;
  const added = Object.entries(edgeResponses(operation, edge)).map(([status, response]) => {
    const own = responses[Number(status)] ?? (errors && { ...response, schema: errors });
    return [status, own ? withEdgeForm(own, response) : response] as const;
  });
  return { ...responses, ...Object.fromEntries(added) };
}

function withEdgeForm(own: OperationResponse, { schema }: OperationResponse): OperationResponse {
  if (schema !== ErrorResponse || own.schema === schema || own.otherContentTypes?.[JSON_TYPE]) return own;
  const { contentType = JSON_TYPE, otherContentTypes } = own;
  if (contentType !== JSON_TYPE) return { ...own, otherContentTypes: { ...otherContentTypes, [JSON_TYPE]: schema } };
  return { ...own, schema: own.schema ? Type.Union([own.schema, schema]) : schema };
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
