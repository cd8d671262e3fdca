import { DeploymentDeleted, type DeploymentRoute, DeploymentRouteChanged, KeyRevoked } from '@runyard/contracts';
import { createEventBus, type EventBus, type EventBusConfig, makeEvent } from '@runyard/event-bus';
import { silentLogger } from '@runyard/service-kit';
import { isKafkaAvailable, testKafka, testRedis, waitFor } from '@runyard/test-kit';
import {
  deploymentRoute,
  FakeControlPlane,
  type FakeKey,
  type FakeServer,
  startFakeServer,
} from '@runyard/test-kit/fake-platform';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startEchoDeployment } from './echo-deployment.ts';
import { startGateway, type TestGateway } from './start-gateway.ts';

const source = '/runyard/test';

const buses: [string, () => EventBusConfig][] = [
  ['kafka', () => ({ kind: 'kafka', clientId: 'test', ...testKafka() })],
  ['redis', () => ({ kind: 'redis', ...testRedis() })],
];

describe.each(buses.filter(([kind]) => kind !== 'kafka' || isKafkaAvailable()))('over %s', (_kind, address) => {
  let config: EventBusConfig;
  let bus: EventBus;
  let gateway: TestGateway;
  let upstream: FakeServer;
  let streaming: FakeServer;
  let route: DeploymentRoute;
  let key: FakeKey;
  let restarted: TestGateway | undefined;

  const request = (on: TestGateway, deployment = route) =>
    fetch(`${on.url}/deployments/${deployment.deployment_id}/threads`, { headers: { 'x-api-key': key.key } });
  /** Changes the route at control-plane, and publishes that it changed. */
  const announce = (changed: DeploymentRoute) => {
    const { routes } = gateway.controlPlane;
    const others = routes.filter(({ deployment_id }) => deployment_id !== changed.deployment_id);
    routes.splice(0, routes.length, ...others, changed);
    return forge(changed);
  };
  /** Publishes a route that control-plane does not have. */
  const forge = (changed: DeploymentRoute) =>
    bus.publish('deployments', [
      {
        key: changed.deployment_id,
        event: makeEvent(DeploymentRouteChanged, { source, subject: changed.deployment_id, data: changed }),
      },
    ]);
  const revoke = (revoked: FakeKey) => {
    gateway.orgAccess.keys.delete(revoked.key);
    return forgeRevocation(revoked);
  };
  const forgeRevocation = (revoked: FakeKey) => {
    const data = { organization_id: revoked.organizationId, key_id: revoked.keyId };
    return bus.publish('organizations', [
      { key: data.organization_id, event: makeEvent(KeyRevoked, { source, subject: data.organization_id, data }) },
    ]);
  };

  it('a deployment that started a moment ago is reached although its event has not come yet', async () => {
    const resting = deploymentRoute({ upstreams: [], workspace_id: route.workspace_id });
    gateway.controlPlane.routes.push(resting);
    await announce(route);
    await waitFor(async () => (await request(gateway, resting)).status === 503, { what: 'the route to be known' });
    resting.upstreams = [upstream.url];
    expect((await request(gateway, resting)).status).toBe(200);
  });

  beforeEach(async () => {
    config = address();
    bus = createEventBus(config, { logger: silentLogger });
    [upstream, streaming] = await Promise.all([
      startEchoDeployment(),
      startFakeServer((_req, res) => void res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()),
    ]);
    route = deploymentRoute({ upstreams: [upstream.url] });
    const controlPlane = await FakeControlPlane.start();
    controlPlane.routes.push(route);
    // A refresh of routes by the clock would hide an event that had no effect.
    gateway = await startGateway({ controlPlane, bus: config, env: { ROUTES_REFRESH_SECONDS: '3600' } });
    key = gateway.orgAccess.issue(route.workspace_id);
    await gateway.untilReady();
    await gateway.untilSubscribed();
  });
  afterEach(async () => {
    await restarted?.stop();
    restarted = undefined;
    await bus.close();
    await gateway.close();
    await Promise.all([upstream.close(), streaming.close()]);
  });

  it('a new deployment is reached when its event comes', async () => {
    const added = deploymentRoute({ upstreams: [upstream.url], workspace_id: route.workspace_id });
    expect((await request(gateway, added)).status).toBe(404);
    await announce(added);
    await waitFor(async () => (await request(gateway, added)).status === 200);
  });

  it('a deleted deployment is refused when its event comes', async () => {
    gateway.controlPlane.routes.length = 0;
    const { deployment_id, workspace_id, organization_id } = route;
    const data = { deployment_id, workspace_id, organization_id, version: 4 };
    await bus.publish('deployments', [
      { key: deployment_id, event: makeEvent(DeploymentDeleted, { source, subject: deployment_id, data }) },
    ]);
    await waitFor(async () => (await request(gateway)).status === 404);
  });

  it('an event that names an upstream and a huge version moves no traffic: control-plane is asked', async () => {
    const taken: string[] = [];
    const thief = await startFakeServer((req, res) => {
      taken.push(req.url!);
      res.end();
    });
    try {
      const asked = gateway.controlPlane.snapshotRequests;
      await forge({ ...route, version: Number.MAX_SAFE_INTEGER, upstreams: [thief.url] });
      await waitFor(() => gateway.controlPlane.snapshotRequests > asked);
      expect((await request(gateway)).status).toBe(200);
      await announce({ ...route, version: 2, upstreams: [] });
      await waitFor(async () => (await request(gateway)).status === 503);
      expect(taken).toEqual([]);
    } finally {
      await thief.close();
    }
  });

  it('a flood of forged events costs control-plane a few snapshots, and the last change still arrives', async () => {
    const asked = gateway.controlPlane.snapshotRequests;
    const startedAt = performance.now();
    for (let each = 0; each < 20; each += 1) {
      const event = () => makeEvent(DeploymentRouteChanged, { source, subject: route.deployment_id, data: route });
      await bus.publish(
        'deployments',
        Array.from({ length: 100 }, () => ({ key: route.deployment_id, event: event() })),
      );
    }
    await announce({ ...route, version: 2, upstreams: [] });
    await waitFor(async () => (await request(gateway)).status === 503);
    const seconds = (performance.now() - startedAt) / 1000;
    // Five a second at most, and the one that was in flight.
    expect(gateway.controlPlane.snapshotRequests - asked).toBeLessThanOrEqual(5 * seconds + 2);
  });

  it('an event that calls a good key revoked refuses nobody and cuts nothing: org-access is asked', async () => {
    await announce({ ...route, version: 2, upstreams: [streaming.url] });
    const stream = await waitFor(async () => {
      const response = await request(gateway);
      return response.headers.get('content-type') === 'text/event-stream' && response;
    });
    const asked = gateway.orgAccess.verifyRequests.length;
    await forgeRevocation(key);
    await waitFor(() => gateway.orgAccess.verifyRequests.length > asked);
    expect((await request(gateway)).status).toBe(200);
    const reading = stream.text().then(
      () => 'ended',
      () => 'cut',
    );
    await revoke(key);
    expect(await reading).toBe('cut');
  });

  it('a revoked key is refused as soon as its event comes, and its open exchanges are cut', async () => {
    await announce({ ...route, version: 2, upstreams: [streaming.url] });
    const stream = await waitFor(async () => {
      const response = await request(gateway);
      return response.headers.get('content-type') === 'text/event-stream' && response;
    });
    const reading = stream.text().then(
      () => 'ended',
      () => 'cut',
    );
    await revoke(key);
    expect(await reading).toBe('cut');
    expect((await request(gateway)).status).toBe(401);
  });

  it('a restarted gateway knows the routes and follows events again', async () => {
    const added = deploymentRoute({ upstreams: [upstream.url], workspace_id: route.workspace_id });
    await announce(added);
    await waitFor(async () => (await request(gateway, added)).status === 200);
    await gateway.stop();

    restarted = await startGateway({
      orgAccess: gateway.orgAccess,
      controlPlane: gateway.controlPlane,
      bus: config,
      env: { ROUTES_REFRESH_SECONDS: '3600' },
    });
    await restarted.untilReady();
    expect((await request(restarted, added)).status).toBe(200);
    await restarted.untilSubscribed();
    await announce({ ...added, version: 2, upstreams: [] });
    await waitFor(async () => (await request(restarted!, added)).status === 503);
    await revoke(key);
    await waitFor(async () => (await request(restarted!)).status === 401);
  });
});

describe('without an event bus', () => {
  let gateway: TestGateway;
  let upstream: FakeServer;
  let route: DeploymentRoute;
  let key: FakeKey;

  beforeEach(async () => {
    upstream = await startFakeServer((req, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      if (req.url === '/stream') res.flushHeaders();
      else res.end();
    });
    route = deploymentRoute({ upstreams: [upstream.url] });
    const controlPlane = await FakeControlPlane.start();
    controlPlane.routes.push(route);
    gateway = await startGateway({ controlPlane, env: { ROUTES_REFRESH_SECONDS: '1' } });
    key = gateway.orgAccess.issue(route.workspace_id);
    await gateway.untilReady();
  });
  afterEach(async () => {
    await gateway.close();
    await upstream.close();
  });

  const request = (deployment = route, path = '/threads') =>
    fetch(`${gateway.url}/deployments/${deployment.deployment_id}${path}`, { headers: { 'x-api-key': key.key } });

  it('a revoked key is refused, and its open streams are cut, without an event', async () => {
    const stream = await request(route, '/stream');
    gateway.orgAccess.keys.delete(key.key);
    await stream.text().catch(() => {});
    expect((await request()).status).toBe(401);
  });

  it('streams continue while org-access is away', async () => {
    const stream = await request(route, '/stream');
    gateway.orgAccess.isUnavailable = true;
    const asked = gateway.orgAccess.verifyRequests.length;
    // Two rounds of checks of the stream's key fail.
    await waitFor(() => gateway.orgAccess.verifyRequests.length >= asked + 2);
    const reader = stream.body!.getReader();
    const outcome = await Promise.race([
      reader.read().then(
        () => 'ended',
        () => 'ended',
      ),
      new Promise((resolve) => setImmediate(() => resolve('open'))),
    ]);
    expect(outcome).toBe('open');
    await reader.cancel();
  });

  it('a new deployment is reached after the next refresh of routes', async () => {
    const added = deploymentRoute({ upstreams: [upstream.url], workspace_id: route.workspace_id });
    gateway.controlPlane.routes.push(added);
    await waitFor(async () => (await request(added)).status === 200);
  });

  it('a deployment that moved is looked up at once, not at the next refresh', async () => {
    const moved = deploymentRoute({ upstreams: ['http://127.0.0.1:1'] });
    const controlPlane = await FakeControlPlane.start();
    controlPlane.routes.push(moved);
    const patient = await startGateway({ controlPlane, env: { ROUTES_REFRESH_SECONDS: '3600' } });
    try {
      const { key: own } = patient.orgAccess.issue(moved.workspace_id);
      await patient.untilReady();
      const status = async () => {
        const url = `${patient.url}/deployments/${moved.deployment_id}/threads`;
        return (await fetch(url, { headers: { 'x-api-key': own } })).status;
      };
      for (const [version, upstreams] of [
        [moved.version + 1, []],
        [moved.version + 2, [upstream.url]],
      ] as const) {
        expect(await status()).toBe(503);
        controlPlane.routes[0] = { ...moved, version, upstreams: [...upstreams] };
      }
      await waitFor(async () => (await status()) === 200);
      // Once a second at most, however many ask.
      expect(controlPlane.snapshotRequests).toBeLessThan(8);
    } finally {
      await patient.close();
    }
  });
});
