import type { TokenEndpointAuthMethod } from '@runyard/contracts';
import {
  type AuthorizationServer,
  dynamicClientRegistrationRequest,
  processDynamicClientRegistrationResponse,
} from 'oauth4webapi';
import type { ProviderRequests } from '../protocol/provider-requests.ts';

const AUTH_METHODS: readonly TokenEndpointAuthMethod[] = ['client_secret_basic', 'client_secret_post', 'none'];

/** This platform as a client of an authorization server. */
export interface RegisteredClient {
  clientId: string;
  clientSecret: string | null;
  /** Null: the secret does not expire, or there is none. */
  clientSecretExpiresAt: Date | null;
  authMethod: TokenEndpointAuthMethod;
}

/** Registers the platform (RFC 7591) at a server that has a `registration_endpoint`. @throws errors of oauth4webapi */
export async function registerClient(
  server: AuthorizationServer,
  { name, redirectUri }: { name: string; redirectUri: string },
  requests: ProviderRequests,
  deadline: AbortSignal,
): Promise<RegisteredClient> {
  const authMethod = authMethodFor(server);
  const response = await dynamicClientRegistrationRequest(
    server,
    {
      client_name: `Runyard: ${name}`,
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: authMethod,
    },
    requests.options(deadline),
  );
  const client = await processDynamicClientRegistrationResponse(response);
  const clientSecret = typeof client.client_secret === 'string' ? client.client_secret : null;
  const registered = AUTH_METHODS.find((method) => method === client.token_endpoint_auth_method);
  return {
    clientId: client.client_id,
    clientSecret,
    clientSecretExpiresAt: clientSecret === null ? null : dateOf(client.client_secret_expires_at),
    authMethod: registered ?? authMethod,
  };
}

/** The last second of the year 9999. */
const SECONDS_MAX = 253_402_300_799;

/**
 * Returns null for 0, which means no expiry (RFC 7591), and also for invalid values and those beyond the range of
 * dates.
 */
function dateOf(seconds: unknown): Date | null {
  const isTime = typeof seconds === 'number' && seconds > 0 && seconds <= SECONDS_MAX;
  return isTime ? new Date(seconds * 1000) : null;
}

function authMethodFor({
  token_endpoint_auth_methods_supported: supported,
}: AuthorizationServer): TokenEndpointAuthMethod {
  return AUTH_METHODS.find((method) => supported?.includes(method)) ?? 'client_secret_basic';
}
