import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { DeploymentRoute } from '@runyard/contracts';
import { waitFor } from '@runyard/test-kit';
import {
  deploymentRoute,
  FakeControlPlane,
  type FakeServer,
  INTERNAL_TOKEN,
  startFakeServer,
} from '@runyard/test-kit/fake-platform';
import { afterEach, expect, it } from 'vitest';
import { startGateway, type TestGateway } from './start-gateway.ts';

let gateway: TestGateway;
let upstreams: FakeServer[];
afterEach(async () => {
  await gateway.close();
  await Promise.all(upstreams.map((upstream) => upstream.close()));
});

/** Starts a gateway before a deployment whose processes answer on command; they begin streams at once. */
async function startHolding(env: Record<string, string>, { processes = 1 } = {}) {
  const held: (() => void)[] = [];
  /** The number of requests that each process got. */
  const sent = Array.from({ length: processes }, () => 0);
  const hold = (process: number) => (req: IncomingMessage, res: ServerResponse) => {
    sent[process]! += 1;
    if (req.headers.accept === 'text/event-stream') res.flushHeaders();
    held.push(() => res.end('{}'));
  };
  upstreams = await Promise.all(sent.map((_, process) => startFakeServer(hold(process))));
  const route = deploymentRoute({ upstreams: upstreams.map(({ url }) => url) });
  const controlPlane = await FakeControlPlane.start();
  controlPlane.routes.push(route);
  // A busy machine is no storm: the tests of these limits are not about requests that waited to be read.
  gateway = await startGateway({ controlPlane, env: { HTTP_MAX_ARRIVAL_DELAY_SECONDS: '60', ...env } });
  await gateway.untilReady();
  const release = () => {
    for (const answer of held.splice(0)) answer();
  };
  const untilArrived = (count: number) => waitFor(() => held.length === count, { what: `${count} requests` });
  return { route, sent, release, untilArrived, post: (key: string, accept?: string) => post(route, key, accept) };
}

it('requests that waited too long to be read get 503 before anything is done for them, and those after the storm are served', async () => {
  let asked = 0;
  const upstream = await startFakeServer((req, res) => {
    asked += 1;
    req.resume();
    res.end('{}');
  });
  upstreams = [upstream];
  const route = deploymentRoute({ upstreams: [upstream.url] });
  const controlPlane = await FakeControlPlane.start();
  controlPlane.routes.push(route);
  const env = { HTTP_MAX_ARRIVAL_DELAY_SECONDS: '0.05', HTTP_MAX_REQUESTS_PER_UPSTREAM: '5000' };
  gateway = await startGateway({ controlPlane, env });
  await gateway.untilReady();
  const { key } = gateway.orgAccess.issue(route.workspace_id);
  const storm = await Promise.all(Array.from({ length: 500 }, () => post(route, key)));
  const late = storm.filter(({ status }) => status === 503);
  expect(late.length).toBeGreaterThan(0);
  expect(new Set(late.map(({ headers }) => headers.get('retry-after')))).toEqual(new Set(['1']));
  expect(await late[0]?.json()).toEqual({ detail: 'Requests wait too long at the moment' });
  const served = storm.filter(({ status }) => status === 200);
  expect(served).toHaveLength(storm.length - late.length);
  expect(asked).toBe(served.length);
  expect(await countRefused('arrival_delay')).toBe(String(late.length));
  await waitFor(async () => (await post(route, key)).status === 200, { what: 'a request to be served' });
});

const urlOf = (route: DeploymentRoute) => `${gateway.url}/deployments/${route.deployment_id}/threads`;

function post(route: DeploymentRoute, key: string, accept = '*/*'): Promise<Response> {
  return fetch(urlOf(route), { method: 'POST', headers: { 'x-api-key': key, accept }, body: '{}' });
}

const countRefused = async (reason: string) => {
  const headers = { authorization: `Bearer ${INTERNAL_TOKEN}` };
  const text = await (await fetch(`${gateway.url}/metrics`, { headers })).text();
  return new RegExp(`http_requests_refused_total\\{reason="${reason}"\\} (\\d+)`).exec(text)?.[1];
};

it('a key may have only so many requests open; those of another key are served beside them', async () => {
  const { route, release, untilArrived, post } = await startHolding({ HTTP_MAX_REQUESTS_PER_KEY: '2' });
  const [one, other] = [gateway.orgAccess.issue(route.workspace_id), gateway.orgAccess.issue(route.workspace_id)];
  const open = [post(one.key), post(one.key)];
  await untilArrived(2);
  const third = await post(one.key);
  expect(third.status).toBe(429);
  expect(third.headers.get('retry-after')).toBe('1');
  open.push(post(other.key));
  await untilArrived(3);
  release();
  expect((await Promise.all(open)).map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(await countRefused('requests_of_key')).toBe('1');
});

it('requests beyond the limit in flight get 503, and the gateway stays healthy', async () => {
  const { route, release, untilArrived, post } = await startHolding({ HTTP_MAX_REQUESTS_IN_FLIGHT: '2' });
  const { key } = gateway.orgAccess.issue(route.workspace_id);
  const open = [post(key), post(key)];
  await untilArrived(2);
  const third = await post(key);
  expect(third.status).toBe(503);
  expect(third.headers.get('retry-after')).toBe('1');
  expect((await fetch(`${gateway.url}/ok`)).status).toBe(200);
  expect(await countRefused('requests_in_flight')).toBe('1');
  release();
  expect((await Promise.all(open)).map(({ status }) => status)).toEqual([200, 200]);
});

it('bodies that the gateway holds have a common limit, and one that finds no room beside the others gets 503', async () => {
  const { route, release, untilArrived } = await startHolding({ HTTP_MAX_BODY_BYTES_IN_FLIGHT: '10000' });
  const { key } = gateway.orgAccess.issue(route.workspace_id);
  const postLarge = () =>
    fetch(urlOf(route), { method: 'POST', headers: { 'x-api-key': key }, body: 'x'.repeat(6_000) });
  const open = [postLarge()];
  await untilArrived(1);
  const refused = await postLarge();
  expect([refused.status, await refused.json()]).toEqual([503, { detail: 'Too much is being received at the moment' }]);
  release();
  expect((await Promise.all(open)).map(({ status }) => status)).toEqual([200]);
  open.push(postLarge());
  await untilArrived(1);
  release();
  expect((await Promise.all(open)).map(({ status }) => status)).toEqual([200, 200]);
});

it('the unanswered requests of a process are limited: others get 503 before they have sent their body', async () => {
  const { route, release, untilArrived, post } = await startHolding({ HTTP_MAX_REQUESTS_PER_UPSTREAM: '2' });
  const { key } = gateway.orgAccess.issue(route.workspace_id);
  const open = [post(key), post(key)];
  await untilArrived(2);
  const third = request(urlOf(route), {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-length': 1_000 },
  });
  third.flushHeaders();
  const [answer] = (await once(third, 'response')) as [IncomingMessage];
  expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '1']);
  const [body] = (await once(answer, 'data')) as [Buffer];
  expect(JSON.parse(body.toString())).toEqual({ detail: 'Too many requests wait for an answer at the moment' });
  third.destroy();
  expect(await countRefused('requests_of_upstream')).toBe('1');
  release();
  expect((await Promise.all(open)).map(({ status }) => status)).toEqual([200, 200]);
  open.push(post(key), post(key));
  await untilArrived(2);
  release();
  expect((await Promise.all(open)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
});

it('a stream releases its place when it begins, and a client that leaves when it goes', async () => {
  const { route, release, untilArrived, post } = await startHolding({ HTTP_MAX_REQUESTS_PER_UPSTREAM: '1' });
  const { key } = gateway.orgAccess.issue(route.workspace_id);
  const streams: Response[] = [];
  for (let count = 0; count < 3; count += 1) streams.push(await post(key, 'text/event-stream'));
  const leaving = new AbortController();
  const left = fetch(urlOf(route), { headers: { 'x-api-key': key }, signal: leaving.signal });
  await untilArrived(4);
  expect((await post(key)).status).toBe(503);
  leaving.abort();
  await expect(left).rejects.toThrow();
  await waitFor(async () => (await post(key, 'text/event-stream')).status === 200, { what: 'the place to be free' });
  release();
  expect(await Promise.all(streams.map((stream) => stream.text()))).toEqual(['{}', '{}', '{}']);
});

it('the process with the fewest unanswered requests gets the next one, which is refused when none has room', async () => {
  const limit = { HTTP_MAX_REQUESTS_PER_UPSTREAM: '2' };
  const { route, sent, release, untilArrived, post } = await startHolding(limit, { processes: 2 });
  const { key } = gateway.orgAccess.issue(route.workspace_id);
  const open = [post(key)];
  await untilArrived(1);
  open.push(post(key, 'text/event-stream'));
  await open[1];
  expect(sent).toEqual([1, 1]);
  open.push(post(key));
  await untilArrived(3);
  expect(sent).toEqual([1, 2]);
  open.push(post(key), post(key));
  await untilArrived(5);
  expect(sent).toEqual([2, 3]);
  expect((await post(key)).status).toBe(503);
  release();
  expect((await Promise.all(open)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
});

it('many requests with one unknown key ask about it once, and those with many keys once for each', async () => {
  const { route, release, untilArrived, post } = await startHolding({});
  const { key } = gateway.orgAccess.issue(route.workspace_id);
  const before = gateway.orgAccess.verifyRequests.length;
  const crowd = Array.from({ length: 100 }, () => post(key));
  await untilArrived(100);
  expect(gateway.orgAccess.verifyRequests.length - before).toBe(1);
  release();
  expect(new Set((await Promise.all(crowd)).map(({ status }) => status))).toEqual(new Set([200]));
  const strangers = await Promise.all(Array.from({ length: 100 }, () => post(`lsv2_sk_${randomUUID()}`)));
  expect(new Set(strangers.map(({ status }) => status))).toEqual(new Set([401]));
  expect(gateway.orgAccess.verifyRequests.length - before).toBe(101);
});
