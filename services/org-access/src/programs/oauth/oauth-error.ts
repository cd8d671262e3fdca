import type { IncomingMessage } from 'node:http';
import { BadRequestError, type ErrorForm, UnauthorizedError } from '@runyard/service-kit';

type InvalidRequest =
  | 'invalid_request'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'unauthorized_client'
  | 'invalid_scope'
  | 'invalid_target'
  | 'invalid_redirect_uri'
  | 'invalid_client_metadata';

/** The request is not one of RFC 6749, 7591 or 8707. */
export function invalidRequest(error: InvalidRequest, description: string): BadRequestError {
  return new BadRequestError(description, { code: 'oauth_request_invalid', body: { error } });
}

/** The grant does not give tokens: of RFC 6749 §5.2 and RFC 8628 §3.5. */
export function refusedGrant(
  error: 'invalid_grant' | 'authorization_pending' | 'slow_down' | 'access_denied' | 'expired_token',
  description: string,
): BadRequestError {
  return new BadRequestError(description, { code: 'oauth_grant_refused', body: { error } });
}

export function unknownClient(): UnauthorizedError {
  return new UnauthorizedError('This client_id is not known here', {
    code: 'oauth_client_unknown',
    body: { error: 'invalid_client' },
  });
}

export function isOAuthPath({ url = '' }: IncomingMessage): boolean {
  return url.startsWith('/oauth/');
}

/** Gives an error the form of RFC 6749 §5.2. A request of the wrong form is 400 there, not 422. */
export const toOAuthError: ErrorForm = (_req, { status, headers, body }) => {
  const { detail, error = errorOf(status) } = body;
  return {
    status: status === 422 ? 400 : status,
    headers: { ...headers, 'cache-control': 'no-store' },
    body: { error, error_description: typeof detail === 'string' ? detail : toText(detail) },
  };
};

function errorOf(status: number): string {
  if (status === 429) return 'slow_down';
  if (status === 503) return 'temporarily_unavailable';
  return status < 500 ? 'invalid_request' : 'server_error';
}

function toText(detail: unknown): string {
  const issues = Array.isArray(detail) ? (detail as { loc?: unknown[]; msg?: string }[]) : [];
  return issues.map(({ loc, msg }) => `${(loc ?? []).slice(1).join('.')}: ${msg}`).join('; ');
}
