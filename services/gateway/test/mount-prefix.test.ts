import { connect } from 'node:net';
import { type DeploymentRoute, MOUNT_PREFIX_HEADER } from '@runyard/contracts';
import {
  deploymentRoute,
  FakeControlPlane,
  type FakeServer,
  sendJson,
  startFakeServer,
} from '@runyard/test-kit/fake-platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from './start-gateway.ts';

describe('a deployment that serves everything below a mount prefix', () => {
  let gateway: TestGateway;
  let upstream: FakeServer;
  let mounted: DeploymentRoute;
  let custom: DeploymentRoute;
  let neighbour: DeploymentRoute;
  const reached: string[] = [];

  beforeAll(async () => {
    upstream = await startFakeServer((req, res) => {
      reached.push(req.url ?? '');
      res.setHeader(MOUNT_PREFIX_HEADER, '/agents');
      sendJson(res, 200, { url: req.url, headers: req.headers });
    });
    const upstreams = [upstream.url];
    mounted = deploymentRoute({ upstreams, slug: 'mounted', mount_prefix: '/agents' });
    custom = deploymentRoute({ upstreams, slug: 'custom', mount_prefix: '/agents', has_custom_auth: true });
    neighbour = deploymentRoute({ upstreams, slug: 'neighbour', mount_prefix: null });
    const odd = deploymentRoute({ upstreams, slug: 'odd', mount_prefix: '/threads/..' });
    const controlPlane = await FakeControlPlane.start();
    controlPlane.routes.push(mounted, custom, neighbour, odd);
    gateway = await startGateway({ controlPlane, env: { DEPLOYMENTS_DOMAIN: 'agents.test' } });
    await gateway.untilReady();
  });
  afterAll(async () => {
    await gateway.close();
    await upstream.close();
  });

  const statusOf = async (path: string, headers: Record<string, string> = {}) =>
    (await fetch(`${gateway.url}/deployments/${path}`, { headers })).status;

  it('answers its keyless paths below the prefix without a key, and gets them as they came', async () => {
    for (const path of ['/agents', '/agents/', '/agents/ok?check_db=1', '/agents/docs', '/agents/feedback/tokens/T']) {
      const answer = await fetch(`${gateway.url}/deployments/mounted${path}`);
      expect([answer.status, ((await answer.json()) as { url: string }).url]).toEqual([200, path]);
      expect(
        answer.headers.has(MOUNT_PREFIX_HEADER),
        'how the platform learns the prefix is no matter of clients',
      ).toBe(false);
    }
    expect(await statusOf('mounted/ok')).toBe(200);
  });

  it('requires a key everywhere else below the prefix, and takes good ones', async () => {
    for (const path of ['threads', 'info', 'metrics', 'ok/', 'ok/threads', 'docs/x'])
      expect([path, await statusOf(`mounted/agents/${path}`)]).toEqual([path, 401]);
    const { key } = gateway.orgAccess.issue(mounted.workspace_id);
    expect(await statusOf('mounted/agents/threads', { 'x-api-key': key })).toBe(200);
  });

  it('does not open the same path of other deployments', async () => {
    for (const slug of ['neighbour', 'unknown', 'odd']) expect(await statusOf(`${slug}/agents/ok`)).toBe(401);
    expect(await statusOf('neighbour/ok')).toBe(200);
  });

  it.each([
    '/agents/ok/../threads',
    '/agents/../agents/ok',
    '/agents/ok%2f..%2fthreads',
    '/agents/%2e%2e/agents/ok',
    '/agents/./ok',
    '/agents\\..\\ok',
    '/agents%2fok',
    '/%61gents/ok',
    '/agents//ok',
    '//agents/ok',
    '/agents/%6fk',
    '/agents/ok%00',
    '/agents/ok;x=/threads',
    '/AGENTS/OK',
    '/agentsok',
  ])('%s reaches nobody without a key', async (path) => {
    reached.length = 0;
    expect([400, 401, 404]).toContain(await rawStatus(`/deployments/mounted${path}`));
    expect(reached).toEqual([]);
  });

  it('that refuses a prefix which may be read in two ways opens nothing below what it resolves to', async () => {
    reached.length = 0;
    for (const path of ['/threads', '/threads/..', '/ok/threads', '/threads/../ok'])
      expect([401, 404]).toContain(await rawStatus(`/deployments/odd${path}`));
    expect(reached).toEqual([]);
  });

  it('answers the same at a host of its own', async () => {
    const host = 'mounted.agents.test';
    expect(await rawStatus('/agents/ok', host)).toBe(200);
    expect(await rawStatus('/agents/threads', host)).toBe(401);
    expect(await rawStatus('/agents/ok', 'neighbour.agents.test')).toBe(401);
  });

  it('with an auth handler of its own gets what comes below the prefix with the credentials it came with', async () => {
    const headers = { authorization: 'Bearer of-the-user' };
    const answer = await fetch(`${gateway.url}/deployments/custom/agents/docs`, { headers });
    expect(await answer.json()).toMatchObject({ headers });
    expect(await statusOf('custom/agents/docs')).toBe(200);
  });

  it('has no keyless path below the prefix of a revision that no longer serves', async () => {
    mounted.mount_prefix = '/v2';
    await gateway.refreshRoutes();
    expect(await statusOf('mounted/agents/ok')).toBe(401);
    expect(await statusOf('mounted/v2/ok')).toBe(200);
    delete mounted.mount_prefix;
    await gateway.refreshRoutes();
    expect(await statusOf('mounted/v2/ok'), 'a control plane of the release before says nothing about it').toBe(401);
  });

  /** Sends the target as it is: `fetch` would resolve and encode it. */
  async function rawStatus(target: string, host = '127.0.0.1'): Promise<number> {
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    socket.write(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    let received = '';
    for await (const chunk of socket) received += chunk;
    return Number(/^HTTP\/1\.1 (\d+)/.exec(received)?.[1]);
  }
});
