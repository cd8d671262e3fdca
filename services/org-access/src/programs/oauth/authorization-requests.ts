import { MCP_SCOPE } from '@runyard/contracts';
import type { OAuthClient, OAuthClients } from './clients.ts';
import { invalidRequest } from './oauth-error.ts';
import { isRegistered } from './redirect-uris.ts';

/** The parameters of an authorization request, as a browser brought them. */
export type AuthorizationParameters = Partial<Record<(typeof PARAMETERS)[number], string | undefined>>;
const PARAMETERS = [
  'response_type',
  'client_id',
  'redirect_uri',
  'state',
  'scope',
  'code_challenge',
  'code_challenge_method',
  'resource',
] as const;

/** The client that asks, and the only address that learns the answer. */
export interface AskingClient {
  client: OAuthClient;
  redirectUri: string;
  state: string | undefined;
}

/** A request for a code of which a person can decide. */
export interface AuthorizationRequest extends AskingClient {
  codeChallenge: string;
  resource: string;
}

/** SHA-256 in base64url. */
const CHALLENGE = /^[\w-]{43}$/;

/**
 * Returns the client that asks. Until its address is known to be its own, nothing is sent there.
 *
 * @throws BadRequestError, UnauthorizedError
 */
export function requireAskingClient(clients: OAuthClients, parameters: AuthorizationParameters): AskingClient {
  const client = clients.require(parameters.client_id);
  const { redirect_uri: redirectUri = client.redirectUris.length === 1 ? client.redirectUris[0] : undefined } =
    parameters;
  if (redirectUri === undefined || !isRegistered(redirectUri, client.redirectUris))
    throw invalidRequest('invalid_request', 'The redirect_uri is not one that the client registered');
  return { client, redirectUri, state: parameters.state };
}

/** Checks the rest of the request. @throws BadRequestError */
export function requireCodeRequest(asking: AskingClient, parameters: AuthorizationParameters): AuthorizationRequest {
  const { response_type: responseType, scope, code_challenge: codeChallenge, resource } = parameters;
  if (responseType !== 'code') throw invalidRequest('unsupported_response_type', 'The response_type is not code');
  if (parameters.code_challenge_method !== 'S256' || !codeChallenge || !CHALLENGE.test(codeChallenge))
    throw invalidRequest('invalid_request', 'A code_challenge with the code_challenge_method S256 is required');
  if (scope && !scope.split(' ').includes(MCP_SCOPE))
    throw invalidRequest('invalid_scope', `The only scope is ${MCP_SCOPE}`);
  if (!resource) throw invalidRequest('invalid_target', 'resource is missing: the address of the MCP server');
  return { ...asking, codeChallenge, resource };
}

/** Returns the parameters of a form that carries them as the query string they came in. */
export function parametersIn(query: string): AuthorizationParameters {
  const given = new URLSearchParams(query);
  return Object.fromEntries(PARAMETERS.map((name) => [name, given.get(name) ?? undefined]));
}

/** Returns the query string for such a form. */
export function queryOf(parameters: AuthorizationParameters): string {
  const given = PARAMETERS.flatMap((name) => (parameters[name] === undefined ? [] : [[name, parameters[name]]]));
  return new URLSearchParams(given as [string, string][]).toString();
}

/** Returns the address to which the browser goes back with an answer (RFC 6749, and `iss` of RFC 9207). */
export function answerAddress(
  { redirectUri, state }: AskingClient,
  issuer: string,
  answer: { code: string } | { error: string; error_description?: string },
): string {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries({ ...answer, ...(state !== undefined && { state }), iss: issuer }))
    url.searchParams.set(name, value);
  return url.href;
}
