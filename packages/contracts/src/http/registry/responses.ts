import type { OperationResponse } from '../../operation.ts';
import { ValidationErrorResponse } from '../common.ts';

export const InvalidResponse: OperationResponse = {
  description: 'The request does not match the contract.',
  schema: ValidationErrorResponse,
  example: { detail: [{ loc: ['body', 'deployment_id'], msg: 'Value must be a valid UUID', type: 'uuid_parsing' }] },
};
