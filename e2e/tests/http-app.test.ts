import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import path from 'node:path';
import { Client } from '@langchain/langgraph-sdk';
import { waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { WebSocket } from 'ws';
import { collectEvents, newClient } from '../harness/client.ts';
import { callControlPlane, createDeployment, type Deployment, waitUntilDeployed } from '../harness/control-plane.ts';

const { apiKey } = inject('platform');
const PROJECT = path.resolve(import.meta.dirname, '../projects/web');

let deployment: Deployment;
const call = (below: string, init: RequestInit = {}) =>
  fetch(deployment.source_config.custom_url + below, { ...init, headers: { 'x-api-key': apiKey, ...init.headers } });

beforeAll(async () => {
  deployment = await createDeployment('web', PROJECT);
  await waitUntilDeployed(deployment);
});
afterAll(async () => {
  await callControlPlane('DELETE', `/deployments/${deployment.id}`);
});

it('a project serves routes of its own, with its middleware around those of the server', async () => {
  expect(await (await call('/custom/hello?name=you')).json()).toEqual({ hello: 'you' });
  expect(await (await call('/custom/stream')).text()).toBe('line 0\nline 1\nline 2\n');
  const client = newClient({ apiUrl: deployment.source_config.custom_url });
  expect((await client.threads.create()).metadata).toEqual({ by: 'middleware' });
  const failed = await call('/custom/error');
  expect([failed.status, await failed.json()]).toEqual([500, { detail: 'Internal Server Error' }]);
});

it('routes of a project are open to no stranger, and its code never sees a key of the platform', async () => {
  const stranger = await fetch(`${deployment.source_config.custom_url}/custom/hello`);
  expect(stranger.status).toBe(401);
  const seen = (await (await call('/custom/headers')).json()) as Record<string, string>;
  expect(Object.keys(seen)).not.toContain('x-api-key');
  expect(JSON.stringify(seen)).not.toContain(apiKey);
  expect(Object.keys(seen).filter((name) => name.startsWith('x-runyard-'))).toEqual([]);
});

it('routes and graphs of a project reach their own deployment without a URL or a key', async () => {
  expect(await (await call('/custom/assistants')).json()).toHaveLength(3);
  expect(await (await call('/custom/waits')).json()).toMatchObject({
    messages: [{}, { content: 'echo: from a route' }],
  });
  const client = newClient({ apiUrl: deployment.source_config.custom_url });
  expect(await client.runs.wait(null, 'asking', { input: {} })).toEqual({ assistants: 3, header: 'none' });
});

it('middleware of a project changes the body it parsed, and logs through the logger of the SDK', async () => {
  const answer = await call('/runs/wait', {
    method: 'POST',
    headers: { 'x-tone': 'kind', 'content-type': 'application/json' },
    body: JSON.stringify({ assistant_id: 'asking', input: {} }),
  });
  expect(await answer.json()).toEqual({ assistants: 3, header: 'kind' });
  const logs = `/deployments/${deployment.id}/revisions/${deployment.latest_revision_id}/logs?type=deploy&query=asked`;
  const lines = async () => (await callControlPlane<{ logs: object[] }>('GET', logs)).body.logs;
  await waitFor(async () => (await lines()).length > 0, { what: 'the line of the log' });
  expect((await lines())[0]).toMatchObject({
    message: 'a run is asked for',
    level: 'INFO',
    fields: { data: { tone: 'kind' } },
  });
});

it('websockets of a project are open to known callers, and to no stranger', async () => {
  const url = `${deployment.source_config.custom_url}/custom/chat`.replace(/^http/, 'ws');
  const stranger = new WebSocket(url);
  const [, refusal] = (await once(stranger, 'unexpected-response')) as [unknown, IncomingMessage];
  expect(refusal.statusCode).toBe(401);
  stranger.on('error', () => undefined).terminate();
  const socket = new WebSocket(url, { headers: { 'x-api-key': apiKey } });
  const [seen] = (await once(socket, 'message')) as [Buffer];
  expect(String(seen)).not.toMatch(/x-runyard-|x-api-key/);
  socket.send('hello');
  const [answer] = (await once(socket, 'message')) as [Buffer];
  expect(String(answer)).toBe('echo: hello');
  socket.terminate();
});

/** Runs a graph by the event protocol over a websocket. */
async function echoBySocket(apiUrl: string): Promise<unknown> {
  const thread = new Client({ apiUrl, apiKey: null }).threads.stream({
    assistantId: 'echo',
    transport: 'websocket',
    webSocketFactory: (at) => new WebSocket(at, { headers: { 'x-api-key': apiKey } }) as never,
  });
  await thread.run.start({ input: { messages: [{ role: 'user', content: 'hi' }] } });
  const { messages } = (await thread.output) as { messages: { text: string }[] };
  await thread.close();
  return messages.at(-1)?.text;
}

it('websockets of the event protocol are there beside those of a project', async () => {
  expect(await echoBySocket(deployment.source_config.custom_url)).toBe('echo: hi');
});

it('runs stream through the app of a project as they do without one', async () => {
  const client = newClient({ apiUrl: deployment.source_config.custom_url });
  const input = { messages: [{ role: 'user', content: 'hi' }] };
  const events = await collectEvents(client.runs.stream(null, 'echo', { input, streamMode: ['values', 'updates'] }));
  expect(events.map(({ event }) => event)).toEqual(['metadata', 'values', 'updates', 'values']);
});

it("the project's rules for pages of other origins hold through the gateway", async () => {
  const preflight = (origin: string) =>
    fetch(`${deployment.source_config.custom_url}/threads`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST' },
    });
  const allowed = await preflight('https://page.example');
  expect([allowed.status, allowed.headers.get('access-control-allow-origin')]).toEqual([200, 'https://page.example']);
  expect((await preflight('https://other.example')).status).toBe(400);
  const answer = await call('/info', { headers: { origin: 'https://page.example' } });
  expect(answer.headers.get('access-control-allow-credentials')).toBe('true');
});

it('a project below a mount prefix answers its keyless paths there, and nothing else, to strangers', async () => {
  const { custom_url: url } = deployment.source_config;
  const statusOf = async (below: string) => (await fetch(url + below)).status;
  expect(await statusOf('/agents/ok')).toBe(401);
  const secrets = [{ name: 'MOUNT_PREFIX', value: '/agents' }];
  const patched = await callControlPlane<Deployment>('PATCH', `/deployments/${deployment.id}`, { secrets });
  await waitUntilDeployed(deployment, patched.body.latest_revision_id);
  await waitFor(async () => (await statusOf('/agents/ok')) === 200, { what: 'the route of the new revision' });

  for (const below of ['/ok', '/agents', '/agents/docs', '/agents/openapi.json'])
    expect([below, await statusOf(below)]).toEqual([below, 200]);
  for (const below of ['/agents/info', '/agents/custom/hello', '/agents//ok', '/agents/ok%2f', '/agentsx/ok'])
    expect([below, await statusOf(below)]).toEqual([below, 401]);
  expect(await (await call('/agents/custom/hello?name=you')).json()).toEqual({ hello: 'you' });

  const client = newClient({ apiUrl: `${url}/agents` });
  const input = { messages: [{ role: 'user', content: 'hi' }] };
  const events = await collectEvents(client.runs.stream(null, 'echo', { input, feedbackKeys: ['helpful'] }));
  const { helpful } = events.at(-1)!.data as { helpful: string };
  expect((await fetch(helpful, { method: 'POST', body: '{"score":1}' })).status).toBe(200);
  expect(await echoBySocket(`${url}/agents`)).toBe('echo: hi');
});
