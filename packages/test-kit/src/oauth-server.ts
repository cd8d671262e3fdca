import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';

export interface OAuthClientMetadata {
  client_id: string;
  client_secret?: string;
  redirect_uris: string[];
  token_endpoint_auth_method?: 'client_secret_post' | 'client_secret_basic' | 'none';
}

type Handler = (req: IncomingMessage, res: ServerResponse) => void;

/** Scopes that clients may request. */
const SCOPES = ['openid', 'email', 'repo', 'mail'];

/**
 * A real OAuth and OpenID Connect server for tests: PKCE, rotating refresh tokens, revocation, dynamic registration.
 * Every visitor is `alice` and consents. Metadata is at the usual places; `/auth`, `/token` and so on are those of
 * oidc-provider.
 */
export class TestOAuthServer {
  readonly url: string;
  /** Lifetime of access tokens in seconds. */
  lifetimeSeconds = 3600;
  /** Requests to `/token`, by grant type. */
  readonly tokenRequests: string[] = [];
  /** Handlers that answer requests instead of the server, by path. */
  readonly overrides = new Map<string, Handler>();
  readonly #server: Server;
  #provider: Provider;

  private constructor(server: Server, clients: OAuthClientMetadata[]) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.#provider = this.#make(clients);
    server.on('request', (req, res) => void this.#serve(req, res));
  }

  static async start(clients: OAuthClientMetadata[] = []): Promise<TestOAuthServer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new TestOAuthServer(server, clients);
  }

  get authUrl(): string {
    return `${this.url}/auth`;
  }

  get tokenUrl(): string {
    return `${this.url}/token`;
  }

  /** Returns whether an access token is valid here. */
  async isValidToken(accessToken: string): Promise<boolean> {
    return (await this.#provider.AccessToken.find(accessToken)) !== undefined;
  }

  /**
   * Acts like a user's browser: signs in, consents, and is sent back. Returns the final address without requesting it.
   */
  async visit(url: string): Promise<string> {
    const cookies = new Map<string, string>();
    let next = url;
    for (let step = 0; step < 10; step++) {
      const response = await fetch(next, {
        redirect: 'manual',
        headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      });
      for (const cookie of response.headers.getSetCookie()) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!;
        cookies.set(name!, value!);
      }
      const location = response.headers.get('location');
      if (location === null) throw new Error(`${next} answers ${response.status}: ${await response.text()}`);
      next = new URL(location, next).href;
      if (!next.startsWith(`${this.url}/`)) return next;
    }
    throw new Error(`${url} goes round in circles`);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const path = (req.url ?? '/').split('?', 1)[0]!;
    const instead = this.overrides.get(path);
    if (instead) return instead(req, res);
    if (path.startsWith('/interaction/')) {
      await this.#provider.interactionFinished(req, res, { login: { accountId: 'alice' } });
      return;
    }
    await this.#provider.callback()(req, res);
  }

  #make(clients: OAuthClientMetadata[]): Provider {
    const provider = new Provider(this.url, {
      clients: clients.map((client) => ({
        grant_types: ['authorization_code', 'refresh_token'],
        token_endpoint_auth_method: 'client_secret_post',
        ...client,
      })),
      scopes: SCOPES,
      claims: { email: ['email'] },
      conformIdTokenClaims: false,
      findAccount: (_, id) => ({
        accountId: id,
        claims: async () => ({ sub: id, email: `${id}@example.com` }),
      }),
      interactions: { url: (_, { uid }) => `/interaction/${uid}` },
      features: {
        devInteractions: { enabled: false },
        revocation: { enabled: true },
        registration: { enabled: true },
        resourceIndicators: {
          enabled: true,
          defaultResource: () => '',
          getResourceServerInfo: () => ({ scope: SCOPES.join(' '), accessTokenFormat: 'opaque' }),
        },
      },
      pkce: { required: () => true },
      ttl: { AccessToken: () => this.lifetimeSeconds, Grant: 3600, Session: 3600, Interaction: 3600, IdToken: 3600 },
      issueRefreshToken: async () => true,
      rotateRefreshToken: () => true,
      cookies: { keys: [randomBytes(16).toString('hex')] },
      async loadExistingGrant({ oidc }) {
        const grant = new oidc.provider.Grant({
          clientId: oidc.client!.clientId,
          accountId: oidc.session!.accountId!,
        });
        grant.addOIDCScope(SCOPES.join(' '));
        const { resource } = oidc.params as { resource?: string };
        if (resource) grant.addResourceScope(resource, SCOPES.join(' '));
        await grant.save();
        return grant;
      },
    });
    provider.use(async (ctx, next) => {
      await next();
      if (ctx.path !== '/token') return;
      this.tokenRequests.push(String(ctx.oidc?.params?.grant_type));
    });
    return provider;
  }
}
