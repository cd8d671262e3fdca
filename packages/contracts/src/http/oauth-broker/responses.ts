import Type from 'typebox';
import type { OperationResponse } from '../../operation.ts';
import { ErrorResponse, ValidationErrorResponse } from '../common.ts';
import { UnauthorizedResponse } from '../control-plane/responses.ts';

export const AUTH_TAG = 'Auth Service (v2)';

const forbidden: OperationResponse = {
  description: 'The caller may not do this.',
  schema: ErrorResponse,
  example: { detail: 'You may not do this in the organization: organization:manage is missing' },
};
const invalid: OperationResponse = {
  description: 'The request does not match the contract.',
  schema: ValidationErrorResponse,
  example: { detail: [{ loc: ['query', 'provider_id'], msg: 'Field required', type: 'missing' }] },
};

/** Errors that every operation of the broker may return. */
export const OAUTH_ERROR_RESPONSES = { 401: UnauthorizedResponse, 403: forbidden, 422: invalid };

export const BadRequest: OperationResponse = {
  description: 'The request has the right form but cannot be done as it is.',
  schema: ErrorResponse,
  example: { detail: 'Provider URL host blocked: localhost address' },
};
export const ProviderNotFoundResponse: OperationResponse = {
  description: 'Not there, or of another organization.',
  schema: ErrorResponse,
  example: { detail: "OAuth provider 'github' not found." },
};
export const TokenNotFoundResponse: OperationResponse = {
  description: 'Not there, or of another user.',
  schema: ErrorResponse,
  example: { detail: 'OAuth token not found.' },
};
export const ProviderExistsResponse: OperationResponse = {
  description: 'A provider of this name exists in the organization.',
  schema: ErrorResponse,
  example: { detail: "An OAuth provider 'github' already exists in this organization." },
};
export const ProviderUnavailableResponse: OperationResponse = {
  description: 'The provider did not answer, or what it answered makes no sense.',
  schema: ErrorResponse,
  example: { detail: "The OAuth provider 'github' cannot be reached." },
};
export const HtmlPageResponse: OperationResponse = {
  description: 'A page for a person.',
  contentType: 'text/html',
  schema: Type.String(),
};

/** A segment of a path: without slashes or characters with a meaning in URLs. */
export const ProviderId = Type.String({
  minLength: 1,
  maxLength: 128,
  pattern: '^[A-Za-z0-9][A-Za-z0-9._~-]*$',
  description: 'OAuth provider ID',
});
/** An assistant's id, or the caller's own name for its agent. */
export const AgentId = Type.String({ minLength: 1, maxLength: 255 });
export const Scopes = Type.Array(
  Type.String({ minLength: 1, maxLength: 512, pattern: '^[\\x21\\x23-\\x5B\\x5D-\\x7E]+$' }),
  {
    maxItems: 200,
  },
);
