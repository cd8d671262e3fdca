import type { OperationResponse } from '../../operation.ts';
import { ErrorResponse, ValidationErrorResponse } from '../common.ts';

export const UnauthorizedResponse: OperationResponse = {
  description: 'No valid credential.',
  schema: ErrorResponse,
  example: { detail: 'Invalid API key' },
};
export const ForbiddenResponse: OperationResponse = {
  description: 'The caller may not do this, or a key of the whole organization did not say in which workspace.',
  schema: ErrorResponse,
  example: { detail: 'This key of the whole organization requires workspace specification: send X-Tenant-Id' },
};
export const BadRequestResponse: OperationResponse = {
  description: 'The request has the right form but cannot be done as it is.',
  schema: ErrorResponse,
  example: { detail: "Source configuration error: 'source_config.project_path' must be an absolute path." },
};
export const NotFoundResponse: OperationResponse = {
  description: 'Not there, or of another workspace.',
  schema: ErrorResponse,
  example: { detail: 'Deployment ID 0192f7a0-0000-7000-8000-000000000001 not found.' },
};
export const ConflictResponse: OperationResponse = {
  description: 'The agent has a deployment in this environment already.',
  schema: ErrorResponse,
  example: { detail: 'Agent "support" already has a deployment in "production".' },
};
export const InvalidResponse: OperationResponse = {
  description: 'The request does not match the contract.',
  schema: ValidationErrorResponse,
  example: { detail: [{ loc: ['path', 'deployment_id'], msg: 'Value must be a valid UUID', type: 'uuid_parsing' }] },
};
