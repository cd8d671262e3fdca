import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  ACCESS_TOKEN_TYPE,
  type AgentsRequest,
  type DeploymentRoute,
  type ExhaustedSum,
  MCP_TOKEN_TYPE,
  type PrincipalClaims,
  SESSION_TOKEN_PREFIX,
  type SummedBudget,
  type VerifyKeyRequest,
} from '@runyard/contracts';

export const INTERNAL_TOKEN = 'internal-token-of-all-of-the-tests';

export interface FakeServer {
  url: string;
  server: Server;
  close(): Promise<void>;
}

export async function startFakeServer(
  handler: (req: IncomingMessage, res: ServerResponse) => void,
): Promise<FakeServer> {
  const server = createServer({ keepAliveTimeout: 75_000 }, handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    server,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export async function readRequestBody(req: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

export function sendJson(res: ServerResponse, status: number, body: unknown): void {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

export interface FakeKey {
  key: string;
  keyId: string;
  organizationId: string;
  workspaceIds: string[];
  /** Claims of its principal tokens that are not those of a service key. */
  claims?: Partial<PrincipalClaims>;
  allowedNetworks?: string[];
  /** Default: none. */
  permissions?: string[];
}

export interface FakeSession {
  sessionId: string;
  token: string;
  accessToken: string;
  /** An access token that is for MCP servers alone. */
  mcpToken: string;
  identityId: string;
  organizationId: string;
}

/** A fake org-access with what the gateway uses. */
export class FakeOrgAccess {
  readonly keys = new Map<string, FakeKey>();
  readonly verifyRequests: VerifyKeyRequest[] = [];
  /** Makes every answer a 500. */
  isUnavailable = false;
  tokenSeconds = 60;
  readonly #server: FakeServer;

  private constructor(server: FakeServer) {
    this.#server = server;
  }

  static async start(): Promise<FakeOrgAccess> {
    let self: FakeOrgAccess | undefined;
    const server = await startFakeServer((req, res) => void self!.#answer(req, res));
    self = new FakeOrgAccess(server);
    return self;
  }

  get url(): string {
    return this.#server.url;
  }

  issue(workspaceId: string, organizationId: string = randomUUID()): FakeKey {
    const key = `lsv2_sk_${createHash('sha256').update(randomUUID()).digest('hex').slice(0, 48)}_0123456789`;
    const issued = { key, keyId: randomUUID(), organizationId, workspaceIds: [workspaceId] };
    this.keys.set(key, issued);
    return issued;
  }

  /** Opens the session of a person, with the token of its cookie and an access token. */
  signIn(workspaceId: string, organizationId: string = randomUUID()): FakeSession {
    const [sessionId, personId] = [randomUUID(), randomUUID()];
    const makeToken = (typ: string) =>
      `${Buffer.from(JSON.stringify({ alg: 'EdDSA', typ })).toString('base64url')}.${randomUUID()}.signature`;
    const session = {
      sessionId,
      token: `${SESSION_TOKEN_PREFIX}${randomUUID()}`,
      accessToken: makeToken(ACCESS_TOKEN_TYPE),
      mcpToken: makeToken(MCP_TOKEN_TYPE),
      identityId: randomUUID(),
      organizationId,
    };
    const claims = { sub: session.identityId, kind: 'session' as const, person_id: personId, session_id: sessionId };
    for (const key of [session.token, session.accessToken, session.mcpToken])
      this.keys.set(key, { key, keyId: sessionId, organizationId, workspaceIds: [workspaceId], claims });
    return session;
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (req.url !== '/internal/keys/verify') return this.#echo(req, res);
    const question = JSON.parse((await readRequestBody(req)).toString()) as VerifyKeyRequest;
    this.verifyRequests.push(question);
    if (this.isUnavailable) return sendJson(res, 500, { detail: 'Internal Server Error' });
    if (req.headers.authorization !== `Bearer ${INTERNAL_TOKEN}`) return sendJson(res, 401, { detail: 'Unauthorized' });
    const known = this.keys.get(question.key);
    if (!known) return sendJson(res, 401, { detail: 'Invalid API key' });
    const workspaceId = question.workspace_id ?? known.workspaceIds[0]!;
    if (!known.workspaceIds.includes(workspaceId)) return sendJson(res, 403, { detail: 'Forbidden workspace' });
    const exp = Math.floor(Date.now() / 1000) + this.tokenSeconds;
    const claims = {
      sub: known.keyId,
      aud: question.audience,
      exp,
      organization_id: known.organizationId,
      workspace_id: workspaceId,
      kind: 'service_key',
      ...(known.claims ?? { key_id: known.keyId }),
      organization_role: 'user',
      permissions: known.permissions ?? [],
    };
    const networks = known.allowedNetworks && { allowed_networks: known.allowedNetworks };
    sendJson(res, 200, { token: `token for ${question.audience} of ${known.keyId}`, claims, ...networks });
  }

  async #echo(req: IncomingMessage, res: ServerResponse): Promise<void> {
    sendJson(res, 200, { service: 'org-access', url: req.url, headers: req.headers });
  }
}

/** A fake control-plane with what the gateway uses. */
export class FakeControlPlane {
  readonly routes: DeploymentRoute[] = [];
  /** Ids of deployments that it has deleted. */
  readonly deleted = new Set<string>();
  /** The budgets of workspaces that it has. */
  budgets: SummedBudget[] = [];
  /** The entries that it was told of used-up ones. */
  readonly exhausted: ExhaustedSum[] = [];
  isUnavailable = false;
  /** The status of its public answers. */
  answerStatus = 200;
  snapshotRequests = 0;
  readonly #server: FakeServer;

  private constructor(server: FakeServer) {
    this.#server = server;
  }

  static async start(): Promise<FakeControlPlane> {
    let self: FakeControlPlane | undefined;
    const server = await startFakeServer((req, res) => self!.#answer(req, res));
    self = new FakeControlPlane(server);
    return self;
  }

  get url(): string {
    return this.#server.url;
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  #answer(req: IncomingMessage, res: ServerResponse): void {
    if (req.url === '/internal/agents') {
      void this.#describeAgents(req, res);
      return;
    }
    if (req.url?.startsWith('/internal/budgets')) {
      void this.#answerOfBudgets(req, res);
      return;
    }
    if (req.url !== '/internal/routes') {
      void this.#echo(req, res);
      return;
    }
    this.snapshotRequests += 1;
    if (this.isUnavailable) sendJson(res, 503, { detail: 'away' });
    else if (req.headers.authorization !== `Bearer ${INTERNAL_TOKEN}`) sendJson(res, 401, { detail: 'Unauthorized' });
    else sendJson(res, 200, { routes: this.routes });
  }

  async #answerOfBudgets(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const body = (await readRequestBody(req)).toString();
    if (this.isUnavailable) sendJson(res, 503, { detail: 'away' });
    else if (req.method === 'GET') sendJson(res, 200, { budgets: this.budgets });
    else {
      const { exhausted } = JSON.parse(body) as { exhausted: ExhaustedSum[] };
      this.exhausted.push(...exhausted);
      sendJson(res, 200, { taken: exhausted.length });
    }
  }

  async #describeAgents(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { agents } = JSON.parse((await readRequestBody(req)).toString()) as AgentsRequest;
    const states = agents.map(({ agent_id }) => ({ is_deleted: this.deleted.has(agent_id), generation: 0 }));
    sendJson(res, 200, { agents: states });
  }

  async #echo(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { url, headers } = req;
    const { length } = await readRequestBody(req);
    sendJson(res, this.answerStatus, { service: 'control-plane', url, headers, length });
  }
}

/** Starts a fake oauth-broker, which answers with what it was sent. */
export function startFakeOAuthBroker(): Promise<FakeServer> {
  return startFakeServer(async (req, res) => {
    const { url, headers } = req;
    const { length } = await readRequestBody(req);
    sendJson(res, 200, { service: 'oauth-broker', url, headers, length });
  });
}

export function deploymentRoute(route: Partial<DeploymentRoute> & { upstreams: string[] }): DeploymentRoute {
  return {
    deployment_id: randomUUID(),
    name: 'a deployment',
    slug: null,
    workspace_id: randomUUID(),
    organization_id: randomUUID(),
    active_revision_id: randomUUID(),
    has_custom_auth: false,
    version: 1,
    ...route,
  };
}
