import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { Client } from '@langchain/langgraph-sdk';
import { waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { WebSocket } from 'ws';
import { collectEvents } from '../harness/client.ts';
import { callControlPlane, createDeployment, type Deployment, waitUntilDeployed } from '../harness/control-plane.ts';
import { runPythonTests } from '../harness/python.ts';
import { runyard } from '../harness/runyard-cli.ts';

const { apiKey } = inject('platform');
const PROJECT = path.resolve(import.meta.dirname, '../projects/guarded');

let deployment: Deployment;
let url: string;
let ada: Client;
let bob: Client;
const clientOf = (defaultHeaders: Record<string, string>) =>
  new Client({ apiUrl: url, apiKey: null, defaultHeaders, callerOptions: { maxRetries: 0 } });
const statusOf = (asked: Promise<unknown>) => asked.then(() => 200).catch(({ status }: { status: number }) => status);
const said = (content: string) => ({ messages: [{ role: 'user', content }] });

beforeAll(async () => {
  // It brings no LANGGRAPH_AES_KEY for the fields of its users: the platform has a key.
  deployment = await createDeployment('guarded', PROJECT);
  await waitUntilDeployed(deployment);
  url = deployment.source_config.custom_url;
  ada = clientOf({ authorization: 'Bearer ada' });
  bob = clientOf({ authorization: 'Bearer bob' });
  // The gateway learns by an event that the project decides about its callers, and lets nobody in before.
  await waitFor(async () => (await statusOf(ada.threads.search())) === 200, {
    what: 'the gateway to let users in',
  });
});
afterAll(async () => {
  await callControlPlane('DELETE', `/deployments/${deployment.id}`);
});

it('strangers get the answer of the project through the gateway, not the one of the gateway', async () => {
  const strangers: Record<string, string>[] = [
    {},
    { authorization: 'Bearer mallory' },
    { 'x-auth-scheme': 'langsmith' },
  ];
  for (const headers of strangers) {
    const response = await fetch(`${url}/threads/search`, { method: 'POST', headers, body: '{}' });
    expect([response.status, await response.json()]).toEqual([401, { detail: expect.any(String) }]);
  }
  const { headers } = await fetch(`${url}/threads/search`, { method: 'POST', body: '{}' });
  expect(headers.get('www-authenticate')).toBe('Bearer');
});

it('MCP clients learn from the project who issues tokens for its users, and need none for that', async () => {
  const response = await fetch(`${url}/.well-known/oauth-protected-resource/mcp`);
  expect([response.status, await response.json()]).toEqual([
    200,
    { resource: 'https://guarded.example/mcp', authorization_servers: ['https://people.example'] },
  ]);
});

it('a user streams, joins and cancels runs of its own, and none of another user', async () => {
  const { thread_id: threadId } = await ada.threads.create();
  const input = { steps: 200, stepMs: 50, name: 'ada', done: [] };
  const run = await ada.runs.create(threadId, 'slow', { input, streamResumable: true, streamMode: 'values' });
  expect(await statusOf(bob.runs.cancel(threadId, run.run_id))).toBe(404);
  expect(await statusOf(bob.runs.get(threadId, run.run_id))).toBe(404);
  const joined = collectEvents(bob.runs.joinStream(threadId, run.run_id, { lastEventId: '-1' }));
  expect(await statusOf(joined)).toBe(404);
  const own = ada.runs.joinStream(threadId, run.run_id, { lastEventId: '-1' });
  const first = (await own.next()).value as { event: string };
  expect(first.event).toBe('metadata');
  await ada.runs.cancel(threadId, run.run_id, true);
  expect(await ada.runs.get(threadId, run.run_id)).toMatchObject({ status: 'interrupted' });
});

it("the command shows a user's runs to that user, and says to another one that they are not there", async () => {
  const { thread_id: threadId } = await ada.threads.create();
  const run = await ada.runs.create(threadId, 'slow', { input: { steps: 1, stepMs: 60_000, name: 'ada', done: [] } });
  const as = (name: string, ...args: string[]) =>
    runyard([...args, '--url', url, '--header', `authorization: Bearer ${name}`], undefined, {});
  const asked = [
    ['threads', 'show', threadId],
    ['runs', 'list', threadId],
    ['runs', 'show', threadId, run.run_id],
    ['runs', 'tail', threadId, run.run_id],
    ['runs', 'replay', threadId, run.run_id],
    ['runs', 'cancel', threadId, run.run_id],
  ];
  for (const args of asked) {
    const refused = await as('bob', ...args);
    expect(refused, args.join(' ')).toMatchObject({
      code: 4,
      output: expect.stringMatching(/^(There is no|The thread)/),
    });
  }
  expect(await as('mallory', 'threads', 'list')).toMatchObject({ code: 3 });
  expect((await as('ada', 'threads', 'list')).output).toContain(threadId);
  expect(await as('ada', 'runs', 'cancel', threadId, run.run_id, '--wait')).toMatchObject({ code: 0 });
});

it.each(['sse', 'websocket'] as const)(
  'a user streams events of version 2 by %s, and another user sees none',
  async (transport) => {
    const streamOf = (name: string, threadId: string = randomUUID()) =>
      // Headers of the client itself are for requests: a browser sends none with a websocket.
      clientOf(transport === 'sse' ? { authorization: `Bearer ${name}` } : {}).threads.stream(threadId, {
        assistantId: 'slow',
        transport,
        webSocketFactory: (at) => new WebSocket(at, { headers: { authorization: `Bearer ${name}` } }) as never,
      });
    const thread = streamOf('ada');
    const stranger = streamOf('bob', thread.threadId);
    const seen: string[] = [];
    stranger.onEvent(({ method }) => seen.push(method));
    await stranger.subscribe(['values', 'lifecycle', 'input']);
    await thread.run.start({ input: { steps: 3, stepMs: 5, name: 'ada', done: [] } });
    expect(await thread.output).toMatchObject({ done: ['ada:2', 'ada:1', 'ada:0'] });
    await expect(stranger.run.start({ input: { steps: 1, stepMs: 5, name: 'bob' } })).rejects.toThrow();
    await expect(stranger.state.get({ namespace: [] })).rejects.toThrow();
    await expect(stranger.agent.getTree({})).rejects.toThrow();
    // Once another subscriber has everything, the stranger would have it too.
    const again = streamOf('ada', thread.threadId);
    for await (const { params } of await again.subscribe('lifecycle')) {
      if (params.namespace.length === 0 && params.data.event === 'completed') break;
    }
    expect(seen).toEqual([]);
    await Promise.all([thread, stranger, again].map((each) => each.close()));
  },
);

it('a graph finds its user, and what it keeps is for this user alone', async () => {
  const found = (await ada.runs.wait(null, 'whoami', { input: { note: 'tea at four' } })) as {
    users: unknown[];
    notes: string[];
  };
  const user = { identity: 'ada', secret: 'secret of ada', permissions: ['be:ada'] };
  expect(found).toMatchObject({ users: [user, user, 'ada', 'ada'], notes: ['tea at four'] });
  expect(await bob.runs.wait(null, 'whoami', { input: {} })).toMatchObject({ notes: [] });
  expect((await ada.store.searchItems(['notes'])).items).toHaveLength(1);
  expect((await bob.store.searchItems([])).items).toEqual([]);
});

it("a graph asks its own server by its address as the run's user, without a key, and nobody else can", async () => {
  const { thread_id: others } = await bob.threads.create();
  const { url, statuses, made, found } = (await ada.runs.wait(null, 'own-server', { input: {} })) as {
    url: string;
    statuses: number[];
    made: string;
    found: string[];
  };
  expect([statuses, found.includes(made), found.includes(others)]).toEqual([[200, 200], true, false]);
  expect([await statusOf(ada.threads.get(made)), await statusOf(bob.threads.get(made))]).toEqual([200, 404]);
  const headers = { authorization: 'Bearer ada', 'x-api-key': apiKey };
  expect((await fetch(`${url}/threads/${made}`, { headers })).status).toBe(403);
});

it('a cron is for the user who made it', async () => {
  const cron = await ada.crons.create('echo', { schedule: '@yearly', input: said('hi') });
  const ids = async (client: Client) => (await client.crons.search()).map(({ cron_id }) => cron_id);
  expect([await ids(ada), await ids(bob)]).toEqual([[cron.cron_id], []]);
  expect(await statusOf(bob.crons.delete(cron.cron_id))).toBe(404);
  await ada.crons.delete(cron.cron_id);
});

it('a key of the platform and Studio with one are users of their own, whom the handlers decide about', async () => {
  const { thread_id: threadId } = await ada.threads.create();
  const key = { 'x-api-key': apiKey };
  for (const headers of [key, { ...key, 'x-auth-scheme': 'langsmith' }]) {
    const client = clientOf(headers);
    const { thread_id: own } = await client.threads.create();
    expect(await statusOf(client.threads.get(own))).toBe(200);
    expect([await statusOf(client.threads.get(threadId)), await statusOf(bob.threads.get(own))]).toEqual([404, 404]);
  }
  const response = await fetch(`${url}/custom/who`, { headers: key });
  const { auth, headers } = (await response.json()) as { auth: object; headers: object };
  expect(auth).toMatchObject({ scopes: ['authenticated'] });
  expect(JSON.stringify(headers)).not.toContain(apiKey);
});

it('the official Python client finds the same', async () => {
  const tests = await runPythonTests({ url, apiKey }, {}, 'users');
  expect(tests.filter(({ passed }) => !passed).map(({ name, failure }) => `${name}\n${failure}`)).toEqual([]);
  expect(tests.length).toBeGreaterThan(4);
});
