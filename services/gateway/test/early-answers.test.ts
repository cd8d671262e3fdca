import type { ServerResponse } from 'node:http';
import { discardUnreadBodies } from '@runyard/service-kit';
import { BODY_CUTS, sendCutBody } from '@runyard/test-kit/cut-bodies';
import { deploymentRoute, FakeControlPlane, type FakeServer, startFakeServer } from '@runyard/test-kit/fake-platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from './start-gateway.ts';

/** Paths of a deployment, and how its process answers there before it has the whole body. */
const ANSWERS: Record<string, (res: ServerResponse) => unknown> = {
  '/too-large': (res) => res.writeHead(413, { 'content-length': 2 }).end('no'),
  '/unknown': (res) => res.writeHead(404).end('no'),
  '/stranger': (res) => setImmediate(() => res.writeHead(401, { 'content-length': 2 }).end('no')),
  '/last': (res) => res.writeHead(409, { connection: 'close', 'content-length': 2 }).end('no'),
};

describe('the connection of a client that is answered before its body has ended', () => {
  let gateway: TestGateway;
  let upstream: FakeServer;
  let below: string;
  let key: string;

  beforeAll(async () => {
    upstream = await startFakeServer((req, res) => {
      if (req.method === 'GET') res.end('next');
      // It has begun to read, as whoever limits the length does.
      else
        req.once('data', () => {
          req.pause();
          ANSWERS[req.url!]!(res);
        });
    });
    discardUnreadBodies(upstream.server);
    const route = deploymentRoute({ upstreams: [upstream.url] });
    const controlPlane = await FakeControlPlane.start();
    controlPlane.routes.push(route);
    gateway = await startGateway({ controlPlane, env: { HTTP_MAX_REQUEST_BODY_BYTES: '400000' } });
    key = gateway.orgAccess.issue(route.workspace_id).key;
    below = `${gateway.url}/deployments/${route.deployment_id}`;
    await gateway.untilReady();
  });
  afterAll(async () => {
    await gateway?.close();
    await upstream?.close();
  });

  const statuses = async (path: string, headers: Record<string, string>) =>
    Object.fromEntries(
      await Promise.all(
        BODY_CUTS.map(async (cut) => [
          cut.name,
          await sendCutBody(path, { cut, headers, next: `${new URL(below).pathname}/ok` }),
        ]),
      ),
    );
  const each = (first: number) => Object.fromEntries(BODY_CUTS.map(({ name }) => [name, { first, next: 200 }]));

  it.each([
    ['/unknown', 404],
    ['/stranger', 401],
    ['/last', 409],
  ])('serves its next request after an answer of the deployment: %s', async (path, status) => {
    expect(await statuses(below + path, { 'x-api-key': key })).toEqual(each(status));
  });

  it('serves its next request after a refusal of its own', async () => {
    expect(await statuses(`${below}/unknown`, {})).toEqual(each(401));
    expect(await statuses(`${gateway.url}/no/such/path`, {})).toEqual(each(404));
  });
});
