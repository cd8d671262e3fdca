import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { collectEvents, fetchAtHost, newClient } from '../harness/client.ts';
import { callControlPlane, createDeployment, type Deployment, waitUntilDeployed } from '../harness/control-plane.ts';
import type { ReadyFile } from '../harness/platform.ts';

const { url, apiKey, hostUrl, dataDir } = inject('platform');
const PROJECT = path.resolve(import.meta.dirname, '../projects/web');
const headers = { 'x-api-key': apiKey };

let deployment: Deployment;
beforeAll(async () => {
  deployment = await createDeployment('web at a host', PROJECT);
  await waitUntilDeployed(deployment);
});
afterAll(async () => {
  await callControlPlane('DELETE', `/deployments/${deployment.id}`);
});

it('a deployment is at the root of a host of its own, which ready.json and the control plane report', async () => {
  const { port } = new URL(url);
  expect(deployment.host_url).toBe(`http://web-at-a-host.localhost:${port}`);
  const ready = JSON.parse(await readFile(path.join(dataDir, 'ready.json'), 'utf8')) as ReadyFile;
  expect(ready.deployments[0]?.host_url).toBe(hostUrl);
  expect((await fetchAtHost(`${hostUrl}/ok`)).status).toBe(200);
});

it('a client that makes URLs from the root of its base reaches routes of the project', async () => {
  const at = (route: string) => fetchAtHost(new URL(route, deployment.host_url), { headers });
  expect(await (await at('/custom/hello?name=you')).json()).toEqual({ hello: 'you' });
  expect(await (await at('/custom/stream')).text()).toBe('line 0\nline 1\nline 2\n');
  const seen = (await (await at('/custom/headers')).json()) as Record<string, string>;
  expect(seen['x-forwarded-host']).toBe(new URL(deployment.host_url).host);
  expect(Object.keys(seen)).not.toContain('x-forwarded-prefix');
});

it('the SDK works with the host as its URL: threads, runs, streams and joins', async () => {
  const client = newClient({ apiUrl: deployment.host_url, fetch: fetchAtHost });
  const thread = await client.threads.create();
  const input = { messages: [{ role: 'user', content: 'hi' }] };
  const events = await collectEvents(client.runs.stream(thread.thread_id, 'echo', { input, streamMode: 'values' }));
  expect(events.at(-1)?.data).toMatchObject({ messages: [{ content: 'hi' }, { content: 'echo: hi' }] });
  const run = await client.runs.create(thread.thread_id, 'echo', { input });
  expect(await client.runs.join(thread.thread_id, run.run_id)).toMatchObject({ messages: expect.any(Array) });
});

it('every address in an answer is right from the root: Location and Content-Location lead to the run', async () => {
  const thread = await newClient({ apiUrl: deployment.host_url, fetch: fetchAtHost }).threads.create();
  const begun = await fetchAtHost(`${deployment.host_url}/threads/${thread.thread_id}/runs/stream`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ assistant_id: 'echo', input: { messages: [] }, stream_resumable: true }),
  });
  await begun.text();
  for (const name of ['location', 'content-location']) {
    const again = await fetchAtHost(new URL(begun.headers.get(name) as string, deployment.host_url), { headers });
    expect(again.status).toBe(200);
    await again.text();
  }
});

it('nothing of the platform is served at the host, and hosts without a deployment are answered as such', async () => {
  expect((await fetchAtHost(`${deployment.host_url}/v2/deployments`, { headers })).status).toBe(404);
  expect((await fetchAtHost(`${deployment.host_url}/api/v1/orgs/current`, { headers })).status).toBe(404);
  const unknown = await fetchAtHost(`http://nobody.localhost:${new URL(url).port}/info`, { headers });
  expect([unknown.status, await unknown.json()]).toEqual([404, { detail: 'Deployment not found' }]);
});
