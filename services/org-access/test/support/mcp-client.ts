import { createHash, randomBytes } from 'node:crypto';
import type { LocatedDeployment, OAuthTokenAnswer, RegisteredClient } from '@runyard/contracts';
import { type FakeServer, readRequestBody, sendJson, startFakeServer } from '@runyard/test-kit/fake-platform';
import type { FetchedPage, PageClient } from './page-client.ts';

export const AUTHORIZE = '/auth/authorize';
export const REDIRECT_URI = 'http://127.0.0.1:33418/callback';

/** The deployments that a control-plane finds by URLs. */
export class FakeDeployments {
  readonly byUrl = new Map<string, LocatedDeployment>();
  readonly #server: FakeServer;

  private constructor(server: FakeServer) {
    this.#server = server;
  }

  static async start(): Promise<FakeDeployments> {
    let self: FakeDeployments | undefined;
    const server = await startFakeServer(async (req, res) => {
      const { url } = JSON.parse((await readRequestBody(req)).toString()) as { url: string };
      sendJson(res, 200, { deployment: self!.byUrl.get(url) ?? null });
    });
    self = new FakeDeployments(server);
    return self;
  }

  get url(): string {
    return this.#server.url;
  }

  /** @returns the address of its MCP server */
  add(owner: { organizationId: string; workspaceId: string }, more: Partial<LocatedDeployment> = {}): string {
    const id = crypto.randomUUID();
    const url = `http://localhost:2024/deployments/${id}/mcp`;
    this.byUrl.set(url, {
      deployment_id: id,
      name: 'support',
      workspace_id: owner.workspaceId,
      organization_id: owner.organizationId,
      has_custom_auth: false,
      mount_prefix: null,
      path: '/mcp',
      ...more,
    });
    return url;
  }

  idAt(url: string): string {
    return this.byUrl.get(url)!.deployment_id;
  }

  close(): Promise<void> {
    return this.#server.close();
  }
}

export type Tokens = OAuthTokenAnswer & { error?: string; error_description?: string };

/** An MCP client, as far as it talks with the issuer. */
export class McpClient {
  readonly #url: string;
  readonly verifier = randomBytes(32).toString('base64url');
  clientId = '';

  constructor(url: string) {
    this.#url = url;
  }

  async register(metadata: object = {}): Promise<{ status: number; body: RegisteredClient & Tokens }> {
    const answer = await fetch(`${this.#url}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ client_name: 'An editor', redirect_uris: [REDIRECT_URI], ...metadata }),
    });
    const body = (await answer.json()) as RegisteredClient & Tokens;
    this.clientId = body.client_id;
    return { status: answer.status, body };
  }

  /** Returns the page where a person decides. */
  askAt(resource: string, changed: Record<string, string | undefined> = {}): string {
    const parameters = {
      response_type: 'code',
      client_id: this.clientId,
      redirect_uri: REDIRECT_URI,
      state: 'the state',
      scope: 'mcp',
      code_challenge: createHash('sha256').update(this.verifier).digest('base64url'),
      code_challenge_method: 'S256',
      resource,
      ...changed,
    };
    const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
    return `${AUTHORIZE}?${new URLSearchParams(given as [string, string][])}`;
  }

  redeem(code: string, changed: Record<string, string> = {}) {
    const form = { code, code_verifier: this.verifier, redirect_uri: REDIRECT_URI, ...changed };
    return this.post('/oauth/token', { grant_type: 'authorization_code', ...form });
  }

  refresh(refresh_token: string, changed: Record<string, string> = {}) {
    return this.post('/oauth/token', { grant_type: 'refresh_token', refresh_token, ...changed });
  }

  async post(path: string, fields: Record<string, string>): Promise<{ status: number; body: Tokens }> {
    const form = new URLSearchParams({ client_id: this.clientId, ...fields });
    const answer = await fetch(this.#url + path, { method: 'POST', body: form });
    const text = await answer.text();
    return { status: answer.status, body: (text ? JSON.parse(text) : undefined) as Tokens };
  }
}

/** Answers the question of a page. @returns the parameters with which the browser comes back to the client */
export async function answerQuestion(
  browser: PageClient,
  question: FetchedPage,
  answer: 'accept' | 'refuse' = 'accept',
): Promise<Record<string, string>> {
  const end = await browser.submit(AUTHORIZE, { answer }, question);
  const { origin, pathname, searchParams } = new URL(end.headers.location ?? `failed:${end.status}${end.text}`);
  if (origin + pathname !== REDIRECT_URI) throw new Error(`the browser goes to ${origin}${pathname}`);
  return Object.fromEntries(searchParams);
}
