import type { OperationResponse } from '../../operation.ts';
import { ErrorResponse, ValidationErrorResponse } from '../common.ts';
import { ForbiddenResponse, UnauthorizedResponse } from '../control-plane/responses.ts';

export const HISTORY_TAG = 'Run history';

const invalid: OperationResponse = {
  description: 'The request does not match the contract.',
  schema: ValidationErrorResponse,
  example: { detail: [{ loc: ['body', 'cursor'], msg: 'Not a cursor of this search', type: 'value_error' }] },
};

/** Errors that every operation of run-history may return. */
export const HISTORY_ERROR_RESPONSES = { 401: UnauthorizedResponse, 403: ForbiddenResponse, 422: invalid };

export const RunNotFoundResponse: OperationResponse = {
  description: 'Not there, or of another workspace, or of a deployment that the caller may not see.',
  schema: ErrorResponse,
  example: { detail: 'Run 0199f0a4-3b5e-7c61-9d2f-5a7e8f9b0c04 not found.' },
};
