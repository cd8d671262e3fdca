import type { OAuthProviderType, TokenEndpointAuthMethod } from '@runyard/contracts';
import { toSqlText } from '@runyard/database';
import {
  type AuthorizationServer,
  authorizationCodeGrantRequest,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  calculatePKCECodeChallenge,
  None,
  nopkce,
  processAuthorizationCodeResponse,
  processRefreshTokenResponse,
  processRevocationResponse,
  ResponseBodyError,
  refreshTokenGrantRequest,
  revocationRequest,
  type TokenEndpointResponse,
  validateAuthResponse,
} from 'oauth4webapi';
import { accountLabelIn } from './account-label.ts';
import { isTokenStillValid, providerError } from './errors.ts';
import { quirksOf } from './provider-quirks.ts';
import type { ProviderRequests } from './provider-requests.ts';
import { supportsS256 } from './server-metadata.ts';

/** The settings of a provider, with the decrypted client secret. */
export interface ProviderSettings {
  providerId: string;
  clientId: string;
  clientSecret: string | null;
  authUrl: string;
  tokenUrl: string;
  authMethod: TokenEndpointAuthMethod;
  codeChallengeMethod: 'S256' | 'plain' | null;
  type: OAuthProviderType | null;
  /** The server that tokens are for (RFC 8707). */
  resource: string | null;
  /** The metadata of the authorization server. */
  server: AuthorizationServer | null;
}

/** Tokens that a provider issued. */
export interface Grant {
  accessToken: string;
  /** Undefined: there is none, or the earlier one stays valid. */
  refreshToken?: string;
  expiresAt: Date | null;
  /** Null: the provider did not return them, so they are the requested ones. */
  scopes: string[] | null;
  /** Data that callers need to use the token, such as the address of the API. */
  metadata: Record<string, unknown>;
  /** The name of the token's account. */
  accountLabel: string | null;
  isOfWorkspace: boolean;
}

/** A hundred years. Some providers return larger numbers for tokens without an end, beyond the range of dates. */
const LIFETIME_SECONDS_MAX = 3_153_600_000;

interface TokenAnswer {
  response: Response;
  fields: Record<string, unknown>;
}

/**
 * Sends OAuth 2 requests to one provider. Every failure is a ProviderRefusedError, a ProviderUnavailableError or a refused
 * address.
 */
export class ProviderClient {
  readonly #settings: ProviderSettings;
  readonly #requests: ProviderRequests;
  readonly #server: AuthorizationServer;

  constructor(settings: ProviderSettings, requests: ProviderRequests) {
    this.#settings = settings;
    this.#requests = requests;
    const { authUrl, tokenUrl, server } = settings;
    this.#server = {
      ...server,
      issuer: server?.issuer ?? new URL(authUrl).origin,
      authorization_endpoint: authUrl,
      token_endpoint: tokenUrl,
    };
  }

  /** Returns the URL where a person authorizes the application. */
  async authorizationUrl(request: {
    state: string;
    redirectUri: string;
    scopes: readonly string[];
    codeVerifier: string | null;
  }): Promise<string> {
    const { authUrl, clientId, codeChallengeMethod, resource, server, type } = this.#settings;
    const url = new URL(authUrl);
    const { scopeSeparator } = quirksOf(type);
    const scopes = this.#addOfflineScope(request.scopes);
    url.searchParams.set('response_type', 'code');
    url.searchParams.set('client_id', clientId);
    url.searchParams.set('redirect_uri', request.redirectUri);
    if (scopes.length > 0) url.searchParams.set('scope', scopes.join(scopeSeparator));
    url.searchParams.set('state', request.state);
    if (request.codeVerifier !== null) {
      const method = supportsS256(server) ? 'S256' : (codeChallengeMethod ?? 'S256');
      const challenge =
        method === 'plain' ? request.codeVerifier : await calculatePKCECodeChallenge(request.codeVerifier);
      url.searchParams.set('code_challenge', challenge);
      url.searchParams.set('code_challenge_method', method);
    }
    if (resource !== null) url.searchParams.set('resource', resource);
    return url.href;
  }

  async exchange(answer: {
    parameters: { code: string; iss?: string };
    redirectUri: string;
    codeVerifier: string | null;
  }): Promise<Grant> {
    const { clientId } = this.#settings;
    return this.#mapErrors(async () => {
      const parameters = new URLSearchParams({ code: answer.parameters.code });
      // Without the server's metadata, there is no issuer to compare with.
      if (answer.parameters.iss !== undefined && this.#settings.server) parameters.set('iss', answer.parameters.iss);
      const client = { client_id: clientId };
      // The state was checked when the flow was found by it.
      const checked = validateAuthResponse(this.#server, client, parameters);
      const response = await authorizationCodeGrantRequest(
        this.#server,
        client,
        this.#clientAuth(),
        checked,
        answer.redirectUri,
        answer.codeVerifier ?? nopkce,
        this.#tokenRequest(),
      );
      const standard = await this.#standardize(response);
      return this.#grant(await processAuthorizationCodeResponse(this.#server, client, standard.response), standard);
    });
  }

  async refresh(refreshToken: string): Promise<Grant> {
    return this.#mapErrors(async () => {
      const client = { client_id: this.#settings.clientId };
      const response = await refreshTokenGrantRequest(
        this.#server,
        client,
        this.#clientAuth(),
        refreshToken,
        this.#tokenRequest(),
      );
      const standard = await this.#standardize(response);
      return this.#grant(await processRefreshTokenResponse(this.#server, client, standard.response), standard);
    });
  }

  /** Returns false when the provider has no revocation. A token that is unknown to it counts as revoked. */
  async revoke(token: string): Promise<boolean> {
    const { revocationPath } = quirksOf(this.#settings.type);
    const endpoint =
      revocationPath === undefined
        ? this.#settings.server?.revocation_endpoint
        : new URL(revocationPath, this.#settings.tokenUrl).href;
    if (endpoint === undefined) return false;
    await this.#mapErrors(async () => {
      const server = { ...this.#server, revocation_endpoint: endpoint };
      const client = { client_id: this.#settings.clientId };
      const options = this.#requests.options();
      const response = await revocationRequest(server, client, this.#clientAuth(), token, options);
      const standard = await this.#standardize(response);
      await processRevocationResponse(standard.response).catch((error: unknown) => {
        if (!(error instanceof ResponseBodyError) || isTokenStillValid(error)) throw error;
      });
    });
    return true;
  }

  /** Revokes both tokens: with a refresh token, a server need not revoke the access token (RFC 7009). */
  async revokeBoth({ accessToken, refreshToken }: Pick<Grant, 'accessToken'> & { refreshToken?: string | null }) {
    if (refreshToken != null) await this.revoke(refreshToken);
    await this.revoke(accessToken);
  }

  #addOfflineScope(scopes: readonly string[]): readonly string[] {
    const { offlineScope } = quirksOf(this.#settings.type);
    if (offlineScope === undefined || scopes.length === 0 || scopes.includes(offlineScope)) return scopes;
    return [...scopes, offlineScope];
  }

  #tokenRequest() {
    const { resource } = this.#settings;
    return { ...this.#requests.options(), ...(resource === null ? {} : { additionalParameters: { resource } }) };
  }

  #clientAuth(): ClientAuth {
    const { clientSecret, authMethod } = this.#settings;
    if (clientSecret === null || authMethod === 'none') return None();
    return authMethod === 'client_secret_basic' ? ClientSecretBasic(clientSecret) : ClientSecretPost(clientSecret);
  }

  /**
   * Converts the token endpoint's answer to the form that the library expects: errors with an error status, a token
   * type, and no ID token, as nobody signs in with it.
   */
  async #standardize(response: Response): Promise<TokenAnswer> {
    const fields: unknown = await response
      .clone()
      .json()
      .catch(() => undefined);
    if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) return { response, fields: {} };
    const original = fields as Record<string, unknown>;
    const standard = quirksOf(this.#settings.type).toStandard(original);
    const { id_token: _idToken, ...rest } = standard;
    const isRefusal = response.ok && typeof rest.error === 'string' && rest.access_token === undefined;
    return {
      response: Response.json(isRefusal ? rest : { token_type: 'bearer', ...rest }, {
        status: isRefusal ? 400 : response.status,
      }),
      fields: { ...original, authed_user: standard.authed_user },
    };
  }

  #grant(answer: TokenEndpointResponse, { fields }: TokenAnswer): Grant {
    const { metadataFields: names, lifetimeSeconds, isOfWorkspace } = quirksOf(this.#settings.type);
    const told = answer.expires_in ?? lifetimeSeconds;
    const seconds = told === undefined ? undefined : Math.min(told, LIFETIME_SECONDS_MAX);
    return {
      accessToken: answer.access_token,
      ...(answer.refresh_token === undefined ? {} : { refreshToken: answer.refresh_token }),
      expiresAt: seconds === undefined ? null : new Date(Date.now() + seconds * 1000),
      scopes:
        answer.scope === undefined
          ? null
          : toSqlText(answer.scope)
              .split(/[\s,]+/)
              .filter(Boolean),
      metadata: Object.fromEntries(names.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]]))),
      accountLabel: accountLabelIn(fields),
      isOfWorkspace: isOfWorkspace(fields),
    };
  }

  async #mapErrors<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      throw providerError(this.#settings.providerId, error);
    }
  }
}
