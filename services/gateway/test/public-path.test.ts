import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import {
  deploymentRoute,
  FakeControlPlane,
  type FakeServer,
  sendJson,
  startFakeServer,
} from '@runyard/test-kit/fake-platform';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway, type TestGateway } from './start-gateway.ts';

let gateway: TestGateway;
let upstream: FakeServer;
beforeAll(async () => {
  upstream = await startFakeServer((req, res) => sendJson(res, 200, req.headers));
  const controlPlane = await FakeControlPlane.start();
  controlPlane.routes.push(deploymentRoute({ upstreams: [upstream.url], slug: 'hello' }));
  gateway = await startGateway({ controlPlane, env: { PUBLIC_URL: 'https://example.com/agents/' } });
  await gateway.untilReady();
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

async function prefixAt(host: string): Promise<unknown> {
  const asked = request(`${gateway.url}/deployments/hello/ok`, { headers: { host } }).end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  return ((await json(answer)) as Record<string, unknown>)['x-forwarded-prefix'];
}

it('a deployment learns the path of PUBLIC_URL from requests for its host, which a proxy has taken off', async () => {
  expect(await prefixAt('example.com')).toBe('/agents/deployments/hello');
  expect(await prefixAt('gateway.internal:2024')).toBe('/deployments/hello');
});
