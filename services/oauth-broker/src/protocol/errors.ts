import { OutboundRefusedError } from '@runyard/outbound';
import { BadGatewayError, BadRequestError, type ErrorContext } from '@runyard/service-kit';
import { AuthorizationResponseError, ResponseBodyError } from 'oauth4webapi';

/** The provider refused. `providerCode` is the provider's error code, as `invalid_grant`. */
export class ProviderRefusedError extends BadRequestError {
  readonly providerCode: string;

  constructor(providerId: string, providerCode: string, description?: string) {
    const why = description ? `${shorten(providerCode)}: ${shorten(description)}` : shorten(providerCode);
    super(`The OAuth provider '${providerId}' refused: ${why}`, { code: 'oauth_provider_refused' });
    this.providerCode = providerCode;
  }
}

/** The provider did not answer, or with an invalid answer. The caller can only try again later. */
export class ProviderUnavailableError extends BadGatewayError {
  constructor(message: string, context: ErrorContext = {}) {
    super(message, { ...context, code: 'oauth_provider_unavailable' });
  }
}

/** Error codes for an invalid or used code or refresh token. Two of them are GitHub's. */
const GRANT_REFUSED = new Set(['invalid_grant', 'bad_refresh_token', 'bad_verification_code']);

export function isGrantRefused(error: unknown): boolean {
  return error instanceof ProviderRefusedError && GRANT_REFUSED.has(error.providerCode);
}

/** Error codes for a revocation that did not happen, whatever the token is. The last four are Slack's. */
const NOT_REVOKED = new Set([
  'invalid_client',
  'unauthorized_client',
  'temporarily_unavailable',
  'server_error',
  'ratelimited',
  'internal_error',
  'fatal_error',
  'service_unavailable',
]);

/**
 * Returns whether the token stays valid after a refused revocation. All other refusals mean that the token is unknown.
 */
export function isTokenStillValid({ status, error }: ResponseBodyError): boolean {
  return status === 429 || status >= 500 || NOT_REVOKED.has(error);
}

/**
 * Converts a failed request to a provider to an error for callers. The library's error is not kept as a cause, as it
 * may contain the answer and with it a token.
 */
export function providerError(providerId: string, error: unknown): Error {
  if (error instanceof ProviderRefusedError || error instanceof ProviderUnavailableError) return error;
  if (error instanceof OutboundRefusedError) return new BadRequestError(error.message, { code: 'url_refused' });
  if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError) {
    // A 5xx status means a failing provider, even with an error code.
    if (!(error instanceof ResponseBodyError) || error.status < 500) {
      return new ProviderRefusedError(providerId, error.error, error.error_description);
    }
  }
  const { name, message, code } = error as Error & { code?: string };
  const internal = { providerId, reason: { name, message, code } };
  const isOfProtocol = typeof code === 'string' && code.startsWith('OAUTH_');
  return new ProviderUnavailableError(
    isOfProtocol
      ? `The OAuth provider '${providerId}' gave an answer that makes no sense.`
      : `The OAuth provider '${providerId}' cannot be reached.`,
    { internal },
  );
}

function shorten(text: string): string {
  return text.slice(0, 500);
}
