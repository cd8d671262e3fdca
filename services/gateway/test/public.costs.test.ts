import { fileURLToPath } from 'node:url';
import { AGENT_SERVER_OPERATIONS, controlPlaneOperations, orgAccessOperations } from '@runyard/contracts';
import { findCostlyRequests, startServiceProcess, type TestServiceProcess } from '@runyard/test-kit';
import {
  deploymentRoute,
  FakeControlPlane,
  FakeOrgAccess,
  type FakeServer,
  INTERNAL_TOKEN,
} from '@runyard/test-kit/fake-platform';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startEchoDeployment } from './echo-deployment.ts';

let orgAccess: FakeOrgAccess;
let controlPlane: FakeControlPlane;
let upstream: FakeServer;
let gateway: TestServiceProcess;
beforeAll(async () => {
  [orgAccess, controlPlane, upstream] = await Promise.all([
    FakeOrgAccess.start(),
    FakeControlPlane.start(),
    startEchoDeployment(),
  ]);
  controlPlane.routes.push(deploymentRoute({ upstreams: [upstream.url], slug: 'open', has_custom_auth: true }));
  gateway = await startServiceProcess({
    entry: fileURLToPath(new URL('../src/main.ts', import.meta.url)),
    readyPath: '/ok?check_db=1',
    env: {
      ORG_ACCESS_URL: orgAccess.url,
      CONTROL_PLANE_URL: controlPlane.url,
      EVENT_BUS: 'redis',
      EVENT_BUS_REDIS_URI: 'redis://127.0.0.1:1',
    },
    secrets: { INTERNAL_TOKEN },
  });
});
afterAll(async () => {
  await gateway?.stop();
  await Promise.all([orgAccess.close(), controlPlane.close(), upstream.close()]);
});

function uniqueBy<T>(list: readonly T[], keyOf: (each: T) => string): T[] {
  return [...new Map(list.map((each) => [keyOf(each), each])).values()];
}

it('nobody without a credential can make a request that costs much more than an empty one', async () => {
  const all = [
    ...[...controlPlaneOperations, ...orgAccessOperations].filter(({ access }) => access === 'public'),
    ...AGENT_SERVER_OPERATIONS.map((each) => ({ ...each, path: `/deployments/open${each.path}` })),
  ];
  // The gateway passes requests on by the beginnings of their paths.
  const operations = uniqueBy(all, ({ method, path }) => `${method} ${path.split('/').slice(0, 3).join('/')}`);
  expect(operations.length).toBeGreaterThan(20);
  const { url } = gateway;
  const metricsHeaders = { authorization: `Bearer ${INTERNAL_TOKEN}` };
  expect(await findCostlyRequests({ url, operations, boundMs: 150, metricsHeaders })).toEqual([]);
});
