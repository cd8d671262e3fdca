import type { OperationResponse } from '../../operation.ts';
import { ErrorResponse, ValidationErrorResponse } from '../common.ts';

export const UnauthorizedResponse: OperationResponse = {
  description: 'No valid credential.',
  schema: ErrorResponse,
  example: { detail: 'Invalid API key' },
};
export const ForbiddenResponse: OperationResponse = {
  description: 'The caller may not do this.',
  schema: ErrorResponse,
  example: { detail: 'Forbidden' },
};
export const NotFoundResponse: OperationResponse = {
  description: 'Not there, or not visible to the caller.',
  schema: ErrorResponse,
  example: { detail: 'API key not found' },
};
export const InvalidResponse: OperationResponse = {
  description: 'The request does not match the contract.',
  schema: ValidationErrorResponse,
  example: { detail: [{ loc: ['body', 'description'], msg: 'must be string', type: 'type' }] },
};

/** The answer to a creation of something that exists, or that would take a name. */
export function conflictResponse(detail: string): OperationResponse {
  return {
    description: 'It exists already. Clients that repeat failed requests should not repeat this one.',
    schema: ErrorResponse,
    headers: { 'X-Should-Retry': '`false`' },
    example: { detail },
  };
}
