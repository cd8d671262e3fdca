import { randomUUID } from 'node:crypto';
import type { AuthenticateResponse, OAuthProvider, PrincipalClaims, WaitResponse } from '@runyard/contracts';
import { TestOAuthServer } from '@runyard/test-kit/oauth-server';
import { type Answer, TestPlatform, type TestPlatformOptions } from './platform.ts';

export const SECRET = 'the-client-secret-canary';
export const PERMISSIONS = ['organization:manage', 'deployments:read', 'deployments:update', 'runs:create'];
const PUBLIC_URL = 'https://agents.example.com';
const OWN_CALLBACK_URL = `${PUBLIC_URL}/v2/auth/callback`;

/** A caller, and the token that shows whose code it is. */
type BrokerCaller = Partial<PrincipalClaims> & { deployment?: string };

/** Runs oauth-broker with an OAuth server beside it, and acts as a user with a browser. */
export class TestBroker {
  readonly platform: TestPlatform;
  readonly server: TestOAuthServer;
  /** The cookie of the browser, once it has one. */
  cookie = '';

  private constructor(platform: TestPlatform, server: TestOAuthServer) {
    this.platform = platform;
    this.server = server;
  }

  /** Starts the server, which knows the client `runyard` of these providers, and not the service. */
  static async open(
    providerIds: string[],
    environment: Record<string, string> = {},
    options: TestPlatformOptions = {},
  ): Promise<TestBroker> {
    const server = await TestOAuthServer.start([
      {
        client_id: 'runyard',
        client_secret: SECRET,
        redirect_uris: providerIds.map((id) => `${environment.OAUTH_CALLBACK_URL ?? OWN_CALLBACK_URL}/${id}`),
      },
    ]);
    const platform = await TestPlatform.open({ OUTBOUND_ALLOWED_NETWORKS: '127.0.0.1/32', ...environment }, options);
    return new TestBroker(platform, server);
  }

  /** Starts both. */
  static async start(...options: Parameters<typeof TestBroker.open>): Promise<TestBroker> {
    const broker = await TestBroker.open(...options);
    await broker.platform.startService();
    return broker;
  }

  call<Body = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    as: Partial<PrincipalClaims> = {},
  ): Promise<Answer<Body>> {
    return this.platform.call(method, `/v2/auth${path}`, { body, as: { permissions: PERMISSIONS, ...as } });
  }

  async provider(providerId: string, changes: Record<string, unknown> = {}): Promise<OAuthProvider> {
    const { status, body } = await this.call<OAuthProvider>('POST', '/providers', {
      provider_id: providerId,
      name: providerId,
      client_id: 'runyard',
      client_secret: SECRET,
      auth_url: this.server.authUrl,
      token_url: this.server.tokenUrl,
      ...changes,
    });
    if (status !== 200) throw new Error(`no provider: ${JSON.stringify(body)}`);
    return body;
  }

  async authenticate(
    provider: string,
    changes: Record<string, unknown> = {},
    as?: BrokerCaller,
  ): Promise<AuthenticateResponse> {
    const { status, body } = await this.ask(provider, changes, as);
    if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
    return body;
  }

  /** Asks for a token. Returns also answers that are refusals. */
  async ask(
    provider: string,
    changes: Record<string, unknown> = {},
    { deployment, ...as }: BrokerCaller = {},
  ): Promise<Answer<AuthenticateResponse>> {
    const headers = await this.platform.callers.headers({ permissions: PERMISSIONS, ...as });
    return this.platform.call('POST', '/v2/auth/authenticate', {
      body: { provider, scopes: ['repo'], ...changes },
      headers: { ...headers, ...(deployment !== undefined && { 'x-runyard-deployment-token': deployment }) },
    });
  }

  /** Opens a page of the platform in the browser, or in another one, and keeps its cookie. */
  async open(url: string, { headers = {}, cookie = this.cookie } = {}): Promise<Response> {
    const address = new URL(url, PUBLIC_URL);
    const page = await fetch(this.platform.service.url + address.pathname + address.search, {
      redirect: 'manual',
      headers: { ...headers, cookie },
    });
    const [set] = page.headers.getSetCookie();
    if (set !== undefined) this.cookie = set.split(';', 1)[0]!;
    return page;
  }

  /** Follows the link of the page where a flow begins, and returns the address at the provider. */
  async begin({ url }: AuthenticateResponse, headers: Record<string, string> = {}): Promise<string> {
    const page = await this.open(url!, { headers });
    const link = linkIn(await page.text());
    if (link === undefined) throw new Error(`${url} answers ${page.status}`);
    const next = await this.open(new URL(link, url!).href, { headers });
    return next.headers.get('location')!;
  }

  /** Gives the person's consent, and returns the query with which the browser comes back. */
  async consent(begun: AuthenticateResponse): Promise<URLSearchParams> {
    const address = begun.url!.startsWith(PUBLIC_URL) ? await this.begin(begun) : begun.url!;
    return new URL(await this.server.visit(address)).searchParams;
  }

  /** Sends the browser's request, which has no key. */
  async callback(
    provider: string,
    query: URLSearchParams | Record<string, string>,
    options: { cookie?: string } = {},
  ): Promise<Response> {
    return this.open(`/v2/auth/callback/${provider}?${new URLSearchParams(query)}`, options);
  }

  /** Runs a whole flow and returns the caller's token of the provider. */
  async connect(provider: string, changes?: Record<string, unknown>, as?: Partial<PrincipalClaims>): Promise<string> {
    const begun = await this.authenticate(provider, changes, as);
    const page = await this.callback(provider, await this.consent(begun));
    if (page.status !== 200) throw new Error(await page.text());
    const { body } = await this.call<WaitResponse>('GET', `/wait/${begun.auth_id}`, undefined, as);
    return body.token!;
  }

  async close(): Promise<void> {
    await this.platform.close();
    await this.server.close();
  }
}

/** Returns the address of the link in a page of the platform. */
export const linkIn = (page: string): string | undefined => /<a href="([^"]+)"/.exec(page)?.[1];

/** Returns the claims of another member of the organization. */
export const someone = (): Partial<PrincipalClaims> => ({ sub: randomUUID() });
