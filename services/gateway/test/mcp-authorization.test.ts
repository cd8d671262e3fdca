import { request as httpRequest } from 'node:http';
import type { DeploymentRoute } from '@runyard/contracts';
import {
  deploymentRoute,
  FakeControlPlane,
  type FakeServer,
  type FakeSession,
  sendJson,
  startFakeServer,
} from '@runyard/test-kit/fake-platform';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from './start-gateway.ts';

const ISSUER = 'https://runyard.example';
const WELL_KNOWN = '/.well-known/oauth-protected-resource';
const TOOLS = ['runs:create', 'runs:read'];

let gateway: TestGateway;
let upstream: FakeServer;
let route: DeploymentRoute;
let session: FakeSession;
/** The status of the deployment's next answers. */
let status = 200;

beforeAll(async () => {
  upstream = await startFakeServer((req, res) => sendJson(res, status, { url: req.url, headers: req.headers }));
  const upstreams = [upstream.url];
  route = deploymentRoute({ upstreams, slug: 'support', custom_host: 'tools.acme.test' });
  const { workspace_id } = route;
  const controlPlane = await FakeControlPlane.start();
  controlPlane.routes.push(
    route,
    deploymentRoute({ upstreams, slug: 'mounted', mount_prefix: '/agents', workspace_id }),
    deploymentRoute({ upstreams, slug: 'custom', has_custom_auth: true, workspace_id }),
    deploymentRoute({ upstreams: [], slug: 'asleep', workspace_id }),
  );
  gateway = await startGateway({ controlPlane, env: { PUBLIC_URL: `${ISSUER}/`, DEPLOYMENTS_DOMAIN: 'agents.test' } });
  await gateway.untilReady();
});
afterAll(async () => {
  await gateway?.close();
  await upstream?.close();
});
beforeEach(() => {
  status = 200;
  session = gateway.orgAccess.signIn(route.workspace_id);
  for (const token of [session.accessToken, session.mcpToken]) gateway.orgAccess.keys.get(token)!.permissions = TOOLS;
});

interface Answer {
  status: number;
  challenge: string | undefined;
  headers: Record<string, unknown>;
  body: { url?: string; headers?: Record<string, string> } & Record<string, unknown>;
}

/** Asks at a host of one's choice, which `fetch` does not allow. */
function ask(path: string, headers: Record<string, string> = {}, host = 'runyard.example', method = 'GET') {
  return new Promise<Answer>((resolve, reject) => {
    const req = httpRequest(gateway.url + path, { method, headers: { host, ...headers } }, async (res) => {
      let body = '';
      for await (const chunk of res) body += chunk;
      const { 'www-authenticate': challenge } = res.headers;
      resolve({ status: res.statusCode!, challenge, headers: res.headers, body: body ? JSON.parse(body) : {} });
    });
    req.once('error', reject).end();
  });
}
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const describes = (resource: string) => ({
  resource,
  authorization_servers: [ISSUER],
  scopes_supported: ['mcp'],
  bearer_methods_supported: ['header'],
});

describe('an MCP client that looks for the issuer of tokens', () => {
  it.each([
    [`/deployments/support${WELL_KNOWN}`, 'runyard.example', `${ISSUER}/deployments/support`],
    [`/deployments/support${WELL_KNOWN}/mcp`, 'runyard.example', `${ISSUER}/deployments/support/mcp`],
    [`${WELL_KNOWN}/deployments/support`, 'runyard.example', `${ISSUER}/deployments/support`],
    [`${WELL_KNOWN}/deployments/support/mcp`, 'runyard.example', `${ISSUER}/deployments/support/mcp`],
    [`${WELL_KNOWN}/mcp`, 'support.agents.test', 'https://support.agents.test/mcp'],
    [WELL_KNOWN, 'tools.acme.test', 'https://tools.acme.test'],
    [`/deployments/mounted/agents${WELL_KNOWN}/mcp`, 'runyard.example', `${ISSUER}/deployments/mounted/agents/mcp`],
    [`${WELL_KNOWN}/deployments/mounted/agents/mcp`, 'runyard.example', `${ISSUER}/deployments/mounted/agents/mcp`],
    [`/deployments/asleep${WELL_KNOWN}/mcp`, 'runyard.example', `${ISSUER}/deployments/asleep/mcp`],
  ])('finds it at %s of %s, without a key', async (path, host, resource) => {
    const answer = await ask(path, {}, host);
    expect(answer).toMatchObject({ status: 200, body: describes(resource) });
    expect(answer.headers).toMatchObject({ 'access-control-allow-origin': '*', 'cache-control': 'no-store' });
  });

  it('finds none where the deployment has no such resource, knows its callers itself, or does not exist', async () => {
    expect((await ask(`/deployments/mounted${WELL_KNOWN}/mcp`)).body.resource).toBeUndefined();
    expect((await ask(`/deployments/support${WELL_KNOWN}/threads`)).status).toBe(401);
    expect((await ask(`/deployments/custom${WELL_KNOWN}/mcp`)).body.url).toBe(`${WELL_KNOWN}/mcp`);
    expect((await ask(`/deployments/nowhere${WELL_KNOWN}/mcp`)).status).toBe(404);
  });

  it('gets no host of its own writing into the answer', async () => {
    const refused = await ask(`/deployments/support${WELL_KNOWN}/mcp`, {}, 'a"b');
    expect(refused).toMatchObject({ status: 400, challenge: undefined });
    expect(JSON.stringify(refused.body)).not.toContain('a\\"b');
  });
});

describe('an MCP server', () => {
  const metadata = (base: string) => `resource_metadata="${base}${WELL_KNOWN}/mcp", scope="mcp"`;

  it.each([
    ['/deployments/support/mcp', 'runyard.example', `${ISSUER}/deployments/support`],
    ['/deployments/support/mcp/', 'runyard.example', `${ISSUER}/deployments/support`],
    ['/mcp', 'tools.acme.test', 'https://tools.acme.test'],
    ['/deployments/mounted/agents/mcp', 'runyard.example', `${ISSUER}/deployments/mounted/agents`],
    ['/deployments/nowhere/mcp', 'runyard.example', `${ISSUER}/deployments/nowhere`],
  ])('tells who calls %s of %s without a good token where to get one', async (path, host, base) => {
    for (const headers of [{}, bearer('lsv2_pt_unknown')]) {
      const answer = await ask(path, headers, host, 'POST');
      expect([answer.status, answer.challenge]).toEqual([401, `Bearer ${metadata(base)}`]);
    }
  });

  it('takes a token that is for MCP servers, which is good nowhere else', async () => {
    const taken = await ask('/deployments/support/mcp', bearer(session.mcpToken), undefined, 'POST');
    expect(taken.status).toBe(200);
    expect(taken.body.headers).toMatchObject({ 'x-runyard-principal': expect.stringContaining('deployment:') });
    expect(taken.body.headers).not.toHaveProperty('authorization');
    for (const path of ['/deployments/support/threads', '/deployments/support/mcp/x', '/deployments/custom/threads'])
      for (const headers of [bearer(session.mcpToken), { 'x-api-key': session.mcpToken }])
        expect([path, (await ask(path, headers)).status]).toEqual([path, 401]);
  });

  it('says that permissions are missing only where they are', async () => {
    const at = (token: string) => ask('/deployments/support/mcp', bearer(token), undefined, 'POST');
    status = 403;
    expect((await at(session.mcpToken)).challenge, 'another reason').toBeUndefined();
    gateway.orgAccess.keys.get(session.accessToken)!.permissions = ['runs:read'];
    expect((await at(session.accessToken)).challenge).toBe(
      `Bearer error="insufficient_scope", ${metadata(`${ISSUER}/deployments/support`)}`,
    );
  });

  it('is the only thing that says so', async () => {
    expect((await ask('/deployments/support/threads')).challenge).toBeUndefined();
    expect((await ask('/v2/deployments', bearer('lsv2_pt_unknown'))).challenge).toBeUndefined();
    status = 401;
    expect((await ask('/deployments/custom/mcp')).challenge, 'the project answers for itself').toBeUndefined();
  });
});
