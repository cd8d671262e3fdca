import { randomUUID } from 'node:crypto';
import type { DeploymentRoute } from '@runyard/contracts';
import { waitFor } from '@runyard/test-kit';
import { afterEach, expect, it } from 'vitest';
import { deploymentRoute, FakeControlPlane, type FakeServer, serve } from './fake-platform.ts';
import { startGateway, type TestGateway } from './start-gateway.ts';

let gateway: TestGateway;
let upstream: FakeServer;
afterEach(async () => {
  await gateway.close();
  await upstream.close();
});

/** A gateway before a deployment that answers when it is told to. */
async function started(env: Record<string, string>) {
  const held: (() => void)[] = [];
  upstream = await serve((_req, res) => void held.push(() => res.end('{}')));
  const route = deploymentRoute({ upstreams: [upstream.url] });
  const controlPlane = await FakeControlPlane.start();
  controlPlane.routes.push(route);
  gateway = await startGateway({ controlPlane, env });
  await gateway.untilReady();
  const release = () => {
    for (const answer of held.splice(0)) answer();
  };
  const arrived = (count: number) => waitFor(() => held.length === count, { what: `${count} requests` });
  return { route, release, arrived, post: (key: string) => post(route, key) };
}

function post(route: DeploymentRoute, key: string): Promise<Response> {
  const url = `${gateway.url}/deployments/${route.deployment_id}/threads`;
  return fetch(url, { method: 'POST', headers: { 'x-api-key': key }, body: '{}' });
}

const refused = async (reason: string, key: string) => {
  const text = await (await fetch(`${gateway.url}/metrics`, { headers: { 'x-api-key': key } })).text();
  return new RegExp(`http_requests_refused_total\\{reason="${reason}"\\} (\\d+)`).exec(text)?.[1];
};

it('a key may have so many requests open; another key’s are served beside them', async () => {
  const { route, release, arrived, post } = await started({ HTTP_MAX_REQUESTS_PER_KEY: '2' });
  const [one, other] = [gateway.orgAccess.issue(route.workspace_id), gateway.orgAccess.issue(route.workspace_id)];
  const open = [post(one.key), post(one.key)];
  await arrived(2);
  const third = await post(one.key);
  expect(third.status).toBe(429);
  expect(third.headers.get('retry-after')).toBe('1');
  open.push(post(other.key));
  await arrived(3);
  release();
  expect((await Promise.all(open)).map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(await refused('requests_of_key', one.key)).toBe('1');
});

it('beyond what is served at once requests get 503, and the gateway says that it is well', async () => {
  const { route, release, arrived, post } = await started({ HTTP_MAX_REQUESTS_IN_FLIGHT: '2' });
  const { key } = gateway.orgAccess.issue(route.workspace_id);
  const open = [post(key), post(key)];
  await arrived(2);
  const third = await post(key);
  expect(third.status).toBe(503);
  expect(third.headers.get('retry-after')).toBe('1');
  expect((await fetch(`${gateway.url}/ok`)).status).toBe(200);
  expect(await refused('requests_in_flight', key)).toBe('1');
  release();
  expect((await Promise.all(open)).map(({ status }) => status)).toEqual([200, 200]);
});

it('a crowd with a key that nobody asked about yet asks once, and one of many keys asks once for each', async () => {
  const { route, release, arrived, post } = await started({});
  const { key } = gateway.orgAccess.issue(route.workspace_id);
  const before = gateway.orgAccess.questions.length;
  const crowd = Array.from({ length: 300 }, () => post(key));
  await arrived(300);
  expect(gateway.orgAccess.questions.length - before).toBe(1);
  release();
  expect(new Set((await Promise.all(crowd)).map(({ status }) => status))).toEqual(new Set([200]));
  const strangers = await Promise.all(Array.from({ length: 300 }, () => post(`lsv2_sk_${randomUUID()}`)));
  expect(new Set(strangers.map(({ status }) => status))).toEqual(new Set([401]));
  expect(gateway.orgAccess.questions.length - before).toBe(301);
});
