import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Thread } from '@langchain/langgraph-sdk';
import { packagesOf, preparePython, runProgram } from '@runyard/test-kit/python';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { startDeployment, type TestDeployment } from './deployment.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const hi = { messages: [{ role: 'user', content: 'hi' }] };

let python: string;
let deployment: TestDeployment;
beforeAll(async () => {
  python = await preparePython(here('../../../hosts/python/requirements.txt'));
  const env = { PROJECT_DIR: here('../../../e2e/projects/python'), ...packagesOf(python) };
  deployment = await startDeployment({ worker: 'real', env });
});
afterAll(() => deployment.close());

describe('a project in Python, with the packages of the environment that is active', () => {
  it('streams, asks, is read and goes on with the answer, by the SDK for JavaScript', async () => {
    const { client } = deployment;
    const { thread_id } = await client.threads.create();
    const stream = client.runs.stream(thread_id, 'agent', { input: hi, streamMode: ['values', 'messages-tuple'] });
    const events = [];
    for await (const event of stream) events.push(event);
    const chunks = events
      .filter(({ event }) => event === 'messages')
      .map(({ data }) => (data as [{ content: string }])[0]);
    expect(chunks.map(({ content }) => content).join('')).toBe('Dear Ada');
    expect(events.at(-1)?.data).toMatchObject({
      __interrupt__: [{ value: { question: 'Send it?', draft: 'Dear Ada' }, id: expect.any(String) }],
    });
    const asked = await client.threads.getState(thread_id);
    expect(asked).toMatchObject({ next: ['send'], values: { draft: { text: 'Dear Ada' } } });
    expect((await client.threads.get(thread_id)).status).toBe('interrupted');
    const done = await client.runs.wait(thread_id, 'agent', { command: { resume: 'yes' } });
    expect(done).toMatchObject({ messages: [{}, {}, { type: 'ai', content: 'sent: yes' }] });
    const history = await client.threads.getHistory(thread_id);
    expect(history.map(({ next }) => next)).toEqual([[], ['send'], ['write'], ['__start__']]);
  });

  it('tells the release of its LangGraph', async () => {
    const answer = await fetch(`${deployment.url}/info`);
    const pinned = /^langgraph==(.+)$/m.exec(
      await readFile(here('../../../hosts/python/requirements.txt'), 'utf8'),
    )?.[1];
    expect(await answer.json()).toMatchObject({ langgraph_py_version: pinned });
  });

  it('is updated at a node, and described', async () => {
    const { client } = deployment;
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, 'steps', { input: { log: [] } });
    await client.threads.updateState(thread_id, { values: { log: [40] }, asNode: 'step3' });
    expect(await client.threads.getState(thread_id)).toMatchObject({
      next: ['step4'],
      values: { log: [0, 1, 2, 3, 4, 40] },
    });
    const [assistant] = await client.assistants.search({ graphId: 'steps' });
    const { nodes } = await client.assistants.getGraph(assistant!.assistant_id);
    expect(nodes.map(({ id }) => id)).toContain('step4');
    const { state_schema } = await client.assistants.getSchemas(assistant!.assistant_id);
    expect(state_schema).toMatchObject({ properties: { log: {} } });
  });

  it('goes on in another process after its own has ended in the middle of a run', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'runyard-dies-'));
    const { client } = deployment;
    const { thread_id } = await client.threads.create();
    const input = { log: [], marker: join(folder, 'died') };
    const values = await client.runs.wait(thread_id, 'dies_once', { input });
    expect(values).toMatchObject({ log: ['before', 'after'] });
    await rm(folder, { recursive: true });
  });

  it('asks its own server by a client without a URL', async () => {
    const { client } = deployment;
    const { thread_id } = await client.threads.create();
    expect(await client.runs.wait(thread_id, 'calls_home', { input: { log: [] } })).toEqual({ log: ['inside'] });
  });

  it('has routes of its own, middleware around those of the server, and what both share with its graphs', async () => {
    const { client, url } = deployment;
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, 'agent', { input: hi });
    const draft = await fetch(`${url}/drafts/${thread_id}`);
    expect(await draft.json()).toEqual({ draft: { text: 'Dear Ada' }, pool: 'open' });
    const thread = await fetch(`${url}/threads/${thread_id}`);
    expect([thread.headers.get('x-project'), ((await thread.json()) as Thread).thread_id]).toEqual([
      'marked',
      thread_id,
    ]);
    expect((await fetch(`${url}/drafts`)).status).toBe(404);
    // The lifespan is open in the process of the worker, too.
    expect(await client.runs.wait(null, 'uses_pool', { input: { log: [] } })).toEqual({ log: ['open'] });
    const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: Record<string, unknown> };
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(['/threads', '/drafts/{thread_id}']));
    expect((await fetch(`${url}/docs`)).headers.get('content-type')).toContain('text/html');
  });

  it('answers websockets', async () => {
    const socket = new WebSocket(`${deployment.url.replace('http', 'ws')}/echo`);
    await once(socket, 'open');
    socket.send('hi');
    expect(String((await once(socket, 'message'))[0])).toBe('echo: hi');
    socket.terminate();
  });

  it('streams through middleware to the SDK as without it', async () => {
    const stream = deployment.client.runs.stream(null, 'steps', { input: { log: [] }, streamMode: 'updates' });
    const names = [];
    for await (const { event } of stream) names.push(event);
    expect(names).toEqual(['metadata', ...Array<string>(5).fill('updates')]);
  });

  it('runs by the SDK for Python', async () => {
    const script = `
from langgraph_sdk import get_sync_client
client = get_sync_client(url="${deployment.url}", api_key=None)
thread = client.threads.create()
chunks = [part.data for part in client.runs.stream(thread["thread_id"], "steps", input={"log": []}, stream_mode="updates")]
print(len(chunks), client.threads.get_state(thread["thread_id"])["values"])
`;
    const { code, output } = await runProgram(python, ['-c', script]);
    expect([code, output.trim()]).toEqual([0, "6 {'log': [0, 1, 2, 3, 4]}"]);
  });
});
