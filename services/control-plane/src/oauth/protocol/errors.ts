import { OutboundRefusedError } from '@runyard/outbound';
import { BadGatewayError, BadRequestError } from '@runyard/service-kit';
import { AuthorizationResponseError, ResponseBodyError } from 'oauth4webapi';

/** The provider said no. `code` is its own word for why, as `invalid_grant`. */
export class ProviderRefusedError extends BadRequestError {
  readonly code: string;

  constructor(providerId: string, code: string, description?: string) {
    const why = description ? `${shortened(code)}: ${shortened(description)}` : shortened(code);
    super(`The OAuth provider '${providerId}' refused: ${why}`);
    this.code = code;
  }
}

/** The provider did not answer, or not sensibly. The caller can only try again later. */
export class ProviderAwayError extends BadGatewayError {}

/** The words of providers for a code or a refresh token that is not good (any more); GitHub has two of its own. */
const GRANT_REFUSED = new Set(['invalid_grant', 'bad_refresh_token', 'bad_verification_code']);

export function isGrantRefused(error: unknown): boolean {
  return error instanceof ProviderRefusedError && GRANT_REFUSED.has(error.code);
}

/** Words for a revocation that was not done, whatever the token is; the last four are Slack's. */
const UNDONE = new Set([
  'invalid_client',
  'unauthorized_client',
  'temporarily_unavailable',
  'server_error',
  'ratelimited',
  'internal_error',
  'fatal_error',
  'service_unavailable',
]);

/** Whether a refused revocation leaves the token good: any other refusal is of a token that is not known (any more). */
export function isRevocationUndone({ status, error }: ResponseBodyError): boolean {
  return status === 429 || status >= 500 || UNDONE.has(error);
}

/**
 * A failure of a request to a provider as callers are told of it. What the library throws is not kept as a cause: it may hold the
 * answer, and with it a token.
 */
export function providerError(providerId: string, error: unknown): Error {
  if (error instanceof ProviderRefusedError || error instanceof ProviderAwayError) return error;
  if (error instanceof OutboundRefusedError) return new BadRequestError(error.message);
  if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError) {
    // An error in the provider's own words with a 5xx is still a provider that is not well.
    if (!(error instanceof ResponseBodyError) || error.status < 500) {
      return new ProviderRefusedError(providerId, error.error, error.error_description);
    }
  }
  const { name, message, code } = error as Error & { code?: string };
  const internal = { providerId, reason: { name, message, code } };
  const isOfProtocol = typeof code === 'string' && code.startsWith('OAUTH_');
  return new ProviderAwayError(
    isOfProtocol
      ? `The OAuth provider '${providerId}' gave an answer that makes no sense.`
      : `The OAuth provider '${providerId}' cannot be reached.`,
    { internal },
  );
}

function shortened(text: string): string {
  return text.slice(0, 500);
}
