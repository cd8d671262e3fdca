import type { Cipher } from '@runyard/encryption';
import { createRemoteJWKSet, type JWTPayload, type JWTVerifyGetKey, customFetch as joseFetch, jwtVerify } from 'jose';
import * as client from 'openid-client';
import type { SsoProvider } from '../../../generated/client.ts';
import type { SsoUrls } from '../../../sso-urls.ts';
import type { IdentityProviderClient } from '../identity-provider-client.ts';
import { clientSecretPlace, oidcOf } from '../provider-configuration.ts';
import { SignInRefusedError } from '../sign-in-refusal.ts';

/** Seconds that the clocks of a provider and of this service may be apart. */
const CLOCK_SKEW_SECONDS = 60;
const DISCOVERY_TTL_MS = 10 * 60_000;
/** A key that is not known is looked for at most this often. */
const KEYS_COOLDOWN_MS = 1_000;
const SIGNATURE_ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** The proof that an answer belongs to the visit that was begun. */
export interface OidcVisit {
  nonce: string;
  codeVerifier: string;
}

export interface OidcAnswer {
  claims: Record<string, unknown>;
  idToken: string;
}

export interface LogoutToken {
  jti: string;
  sub: string | null;
  sid: string | null;
  expiresAt: Date;
}

interface Discovered {
  configuration: client.Configuration;
  keys: JWTVerifyGetKey;
  until: number;
}

/** Speaks OpenID Connect with the providers of organizations. */
export class OidcClient {
  readonly #http: IdentityProviderClient;
  readonly #cipher: Cipher;
  readonly #urls: SsoUrls;
  /** By provider and its last change. */
  readonly #discovered = new Map<string, Discovered>();

  constructor(options: { http: IdentityProviderClient; cipher: Cipher; urls: SsoUrls }) {
    this.#http = options.http;
    this.#cipher = options.cipher;
    this.#urls = options.urls;
  }

  /** Returns where a browser goes to sign in. `state` is stored with the visit. @throws SignInRefusedError */
  async authorizationUrl(provider: SsoProvider, visit: OidcVisit, state: string): Promise<URL> {
    const { configuration } = await this.#discover(provider);
    const url = client.buildAuthorizationUrl(configuration, {
      redirect_uri: this.#urls.oidcCallback(provider),
      scope: oidcOf(provider).scopes,
      code_challenge: await client.calculatePKCECodeChallenge(visit.codeVerifier),
      code_challenge_method: 'S256',
      state,
      nonce: visit.nonce,
    });
    // Some providers read a plus between scopes as a plus.
    url.search = url.search.replaceAll('+', '%20');
    return url;
  }

  /** Exchanges the code of an answer, and checks all that the provider says. @throws SignInRefusedError */
  async exchange(provider: SsoProvider, query: URLSearchParams, visit: OidcVisit): Promise<OidcAnswer> {
    const discovered = await this.#discover(provider);
    const url = new URL(this.#urls.oidcCallback(provider));
    url.search = query.toString();
    const { configuration } = discovered;
    try {
      const tokens = await client.authorizationCodeGrant(configuration, url, {
        pkceCodeVerifier: visit.codeVerifier,
        expectedNonce: visit.nonce,
        expectedState: query.get('state') ?? '',
        idTokenExpected: true,
      });
      const idToken = tokens.id_token!;
      const claims = await this.#verify(provider, discovered, idToken);
      if (claims.email !== undefined) return { claims, idToken };
      return { claims: { ...(await this.#userInfo(configuration, tokens.access_token, claims)), ...claims }, idToken };
    } catch (cause) {
      if (cause instanceof client.AuthorizationResponseError)
        throw new SignInRefusedError('provider_refused', { cause });
      throw new SignInRefusedError('answer_invalid', { cause });
    }
  }

  /** Checks a token by which a provider ends sessions. @throws Error */
  async verifyLogoutToken(provider: SsoProvider, token: string): Promise<LogoutToken> {
    const payload = await this.#verify(provider, await this.#discover(provider), token);
    const { events, jti, sub, sid, nonce, iat } = payload;
    const isLogout = events !== null && typeof events === 'object' && LOGOUT_EVENT in events;
    if (!isLogout || nonce !== undefined) throw new Error('This is not a logout token.');
    if (typeof jti !== 'string' || typeof iat !== 'number') throw new Error('The logout token has no jti or iat.');
    if (Math.abs(Date.now() / 1000 - iat) > 10 * 60) throw new Error('The logout token is too old.');
    if (typeof sub !== 'string' && typeof sid !== 'string') throw new Error('The logout token names no session.');
    return {
      jti,
      sub: typeof sub === 'string' ? sub : null,
      sid: typeof sid === 'string' ? sid : null,
      expiresAt: new Date((iat + 20 * 60) * 1000),
    };
  }

  /** Returns where a browser goes to sign out at the provider; null when that has no such address. */
  async endSessionUrl(provider: SsoProvider, idToken: string | null): Promise<URL | null> {
    const { configuration } = await this.#discover(provider);
    if (configuration.serverMetadata().end_session_endpoint === undefined) return null;
    return client.buildEndSessionUrl(configuration, {
      post_logout_redirect_uri: this.#urls.signedOut,
      ...(idToken !== null && { id_token_hint: idToken }),
    });
  }

  /** Asks a provider anew what it says of itself. @throws Error where sign-in could not go on with it */
  async describe(provider: SsoProvider): Promise<client.Configuration> {
    return (await this.#fetchConfiguration(provider)).configuration;
  }

  /**
   * Redeems a code that the provider has never given: how it refuses says whether it knows the client and its secret.
   *
   * @returns the error code, such as `invalid_grant`; `invalid_client` for every refusal of the client itself
   * @throws Error when it does not answer as OAuth says
   */
  async refusalOfUnknownCode(provider: SsoProvider, configuration: client.Configuration): Promise<string> {
    try {
      await client.genericGrantRequest(configuration, 'authorization_code', {
        code: client.randomState(),
        redirect_uri: this.#urls.oidcCallback(provider),
        code_verifier: client.randomPKCECodeVerifier(),
      });
      return 'none';
    } catch (error) {
      if (error instanceof client.WWWAuthenticateChallengeError) return 'invalid_client';
      if (error instanceof client.ResponseBodyError) return error.status === 401 ? 'invalid_client' : error.error;
      throw error;
    }
  }

  /** Checks signature, issuer, audience, authorized party and times. */
  async #verify(provider: SsoProvider, { configuration, keys }: Discovered, token: string): Promise<JWTPayload> {
    const { clientId } = oidcOf(provider);
    const { payload } = await jwtVerify(token, keys, {
      issuer: configuration.serverMetadata().issuer,
      audience: clientId,
      algorithms: SIGNATURE_ALGORITHMS,
      clockTolerance: CLOCK_SKEW_SECONDS,
    });
    const { aud, azp } = payload;
    if (azp !== undefined && azp !== clientId) throw new Error('The token is for another authorized party.');
    if (Array.isArray(aud) && aud.length > 1 && azp === undefined)
      throw new Error('The token has no authorized party.');
    return payload;
  }

  async #userInfo(configuration: client.Configuration, accessToken: string, { sub }: JWTPayload) {
    if (configuration.serverMetadata().userinfo_endpoint === undefined) return {};
    return client.fetchUserInfo(configuration, accessToken, sub!);
  }

  async #discover(provider: SsoProvider): Promise<Discovered> {
    const key = `${provider.id} ${provider.updatedAt.getTime()}`;
    const known = this.#discovered.get(key);
    if (known && known.until > Date.now()) return known;
    for (const [each, { until }] of this.#discovered) if (until <= Date.now()) this.#discovered.delete(each);
    try {
      const discovered = await this.#fetchConfiguration(provider);
      this.#discovered.set(key, discovered);
      return discovered;
    } catch (cause) {
      throw new SignInRefusedError('provider_unavailable', { cause });
    }
  }

  async #fetchConfiguration(provider: SsoProvider): Promise<Discovered> {
    const { issuerUrl, clientId } = oidcOf(provider);
    const issuer = new URL(issuerUrl);
    const execute = issuer.protocol === 'http:' ? [client.allowInsecureRequests] : [];
    const fetch = this.#http.fetch as client.CustomFetch;
    const found = await client.discovery(issuer, clientId, undefined, client.None(), {
      execute,
      [client.customFetch]: fetch,
    });
    const server = found.serverMetadata();
    if (server.jwks_uri === undefined) throw new Error('The provider publishes no keys.');
    const configuration = new client.Configuration(
      server,
      clientId,
      { [client.clockTolerance]: CLOCK_SKEW_SECONDS },
      this.#clientAuthentication(provider, server.token_endpoint_auth_methods_supported),
    );
    configuration[client.customFetch] = fetch;
    for (const extend of execute) extend(configuration);
    const keys = createRemoteJWKSet(new URL(server.jwks_uri), {
      cooldownDuration: KEYS_COOLDOWN_MS,
      [joseFetch]: this.#http.fetch,
    });
    return { configuration, keys, until: Date.now() + DISCOVERY_TTL_MS };
  }

  #clientAuthentication(provider: SsoProvider, methods: readonly string[] | undefined): client.ClientAuth {
    const secret = this.#cipher.decrypt(provider.encryptedClientSecret ?? '', clientSecretPlace(provider.id));
    // A provider that names no method understands the basic one.
    return methods?.includes('client_secret_post') ? client.ClientSecretPost(secret) : client.ClientSecretBasic(secret);
  }
}
