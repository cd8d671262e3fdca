import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Client } from '@langchain/langgraph-sdk';
import { waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { collectEvents, newClient } from '../harness/client.ts';
import { type Platform, startPlatform } from '../harness/platform.ts';

/** One node, which says what its code and its variables are, once the file that its input names is gone. */
const graph = (version: string) => `
import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Annotation, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  waitsFor: Annotation<string>(),
  said: Annotation<string[]>({ reducer: (one, other) => one.concat(other), default: () => [] }),
});
export const graph = new StateGraph(State)
  .addNode('begin', () => ({ said: 'begun' }))
  .addNode('say', async ({ waitsFor }) => {
    if (waitsFor === 'nobody') throw new Error('nobody comes');
    console.log('about to say it');
    while (waitsFor && existsSync(waitsFor)) await pause(10);
    return { said: \`\${process.env.GREETING} from ${version}\` };
  })
  .addEdge(START, 'begin')
  .addEdge('begin', 'say')
  .compile();
`;
/** A route that answers once the file is gone that its query names. */
const app = `
import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
export const app = async (request) => {
  const { pathname, searchParams } = new URL(request.url);
  if (pathname !== '/wait') return new Response('', { status: 404 });
  console.log('the route waits');
  while (existsSync(searchParams.get('for'))) await pause(10);
  return new Response('waited');
};
`;
const config = (...graphs: string[]) =>
  JSON.stringify({
    graphs: Object.fromEntries(graphs.map((id) => [id, './src/agent.ts:graph'])),
    env: '.env',
    http: { app: './src/app.ts:app' },
  });

let work: string;
let platform: Platform;
let client: Client;

beforeAll(async () => {
  work = await realpath(await mkdtemp(path.join(tmpdir(), 'runyard-reload-')));
  await mkdir(path.join(work, 'app/src'), { recursive: true });
  await symlink(path.join(import.meta.dirname, '../node_modules'), path.join(work, 'node_modules'));
  await edit({ 'src/app.ts': app, 'src/agent.ts': graph('one'), 'langgraph.json': config('agent') });
  await edit({ '.env': 'GREETING=hello' });
  platform = await startPlatform({ project: path.join(work, 'app'), flags: ['--reload', 'drain'] });
  client = newClient({ apiUrl: platform.url });
});
afterAll(async () => {
  await platform?.stop();
  await platform?.remove();
  await rm(work, { recursive: true, force: true });
});

async function edit(files: Record<string, string>): Promise<void> {
  for (const [file, content] of Object.entries(files)) await writeFile(path.join(work, 'app', file), content);
}

/** Edits files, and waits for what the platform prints about that. */
async function editAndWait(files: Record<string, string>, printed: string): Promise<string> {
  const before = platform.output().length;
  await edit(files);
  const output = () => platform.output().slice(before);
  await waitFor(() => output().includes(printed), { what: printed });
  return output();
}

async function say(threadId: string, graphId = 'agent', input = { waitsFor: '' }): Promise<string | undefined> {
  const { said } = (await client.runs.wait(threadId, graphId, { input })) as { said: string[] };
  return said.at(-1);
}

it('each run is one line at the terminal, among what the code prints and throws with its place', async () => {
  const thread = await client.threads.create();
  await say(thread.thread_id);
  await client.runs.wait(thread.thread_id, 'agent', { input: { waitsFor: 'nobody' }, raiseError: false });
  for (const status of ['success', 'error'])
    await waitFor(() => new RegExp(`agent  ${status} .* s  thread ${thread.thread_id}`).test(platform.output()));
  expect(platform.output()).toContain('  about to say it\n');
  expect(platform.output()).toMatch(/ {2}The run failed: nobody comes\n +at .*\(src\/agent\.ts:\d+:\d+\)/);
  // The servers of the project are asked for with --verbose.
  expect(platform.output()).not.toContain('database connections');
});

it('edits of code, variables and langgraph.json are live, and threads, streams and a broken edit lose nothing', async () => {
  const thread = await client.threads.create();
  expect(await say(thread.thread_id)).toBe('hello from one');

  // A stream that has begun goes on, on the code that it has begun with.
  const gate = path.join(work, 'gate');
  await writeFile(gate, '');
  const streamed = await client.threads.create();
  const stream = client.runs.stream(streamed.thread_id, 'agent', { input: { waitsFor: gate }, streamMode: 'values' });
  while (!JSON.stringify((await stream.next()).value).includes('begun'));
  const rest = collectEvents(stream);
  const printed = await editAndWait({ 'src/agent.ts': graph('two') }, 'Reloaded in');
  expect(printed).toContain('Reloading after an edit of src/agent.ts');
  expect(await say(thread.thread_id)).toBe('hello from two');
  await rm(gate);
  expect((await rest).at(-1)?.data).toMatchObject({ said: ['begun', 'hello from one'] });

  const refused = await editAndWait(
    { 'src/agent.ts': `${graph('three')}\nthrow new Error('boom');\n` },
    'Not reloaded',
  );
  await waitFor(() => platform.output().includes('boom'));
  expect(platform.output()).toMatch(/boom\n {4}at .*\(src\/agent\.ts:\d+:7\)/);
  expect(refused).toContain('the version before goes on');
  expect(await say(thread.thread_id)).toBe('hello from two');
  expect(await editAndWait({ 'langgraph.json': '{' }, 'Not reloaded')).toContain('is not valid JSON');

  await editAndWait(
    { 'src/agent.ts': graph('four'), 'langgraph.json': config('agent', 'other'), '.env': 'GREETING=bye' },
    'Reloaded in',
  );
  expect(await say(thread.thread_id, 'other')).toBe('bye from four');
  const { values } = await client.threads.getState<{ said: string[] }>(thread.thread_id);
  expect(values.said.filter((line) => line !== 'begun')).toEqual([
    'hello from one',
    'hello from two',
    'hello from two',
    'bye from four',
  ]);
});

it('a request that a route of the project is answering outlives the worker of its version', async () => {
  const gate = path.join(work, 'gate of the route');
  await writeFile(gate, '');
  const answered = fetch(`${platform.url}/wait?${new URLSearchParams({ for: gate })}`).then((answer) => answer.text());
  await waitFor(() => platform.output().includes('the route waits'));
  const before = await countStoppedWorkers();
  await editAndWait({ 'src/agent.ts': graph('five') }, 'Reloaded in');
  await waitFor(async () => (await countStoppedWorkers()) > before, { what: 'the end of the worker' });
  await rm(gate);
  expect(await answered).toBe('waited');
});

async function countStoppedWorkers(): Promise<number> {
  const folder = path.join(platform.dataDir, 'deployments/logs');
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.jsonl'));
  const texts = await Promise.all(files.map((name) => readFile(path.join(folder, name), 'utf8')));
  const lines = texts.flatMap((text) => text.split('\n'));
  return lines.filter((line) => line.includes('"source":"run-worker"') && line.includes('"message":"stopped"')).length;
}

it('crons start no runs while an edit does not load, and go on with the next good one', async () => {
  const cron = await client.crons.create('agent', {
    schedule: '* * * * * *',
    input: { waitsFor: '' },
    onRunCompleted: 'keep',
  });
  const { cron_id } = cron as unknown as { cron_id: string };
  const runs = async () => (await client.threads.search({ metadata: { cron_id }, limit: 1_000 })).length;
  const nextSlot = async () => {
    const found = await client.crons.search({ limit: 100 });
    return Date.parse(found.find((each) => each.cron_id === cron_id)!.next_run_date!);
  };
  await waitFor(async () => (await runs()) > 0, { what: 'a run of the cron' });
  // Code that does not load, a graph that is not there, which a look at the project shows, and a file of half a word.
  const absent = config('agent').replace('agent.ts', 'absent.ts');
  const edits: Record<string, string>[] = [
    { 'src/agent.ts': 'throw new Error("boom");' },
    { 'langgraph.json': absent },
    { 'langgraph.json': '{' },
  ];
  for (const files of edits) {
    expect(await editAndWait(files, 'Not reloaded')).toContain('goes on, without its crons:');
    const [before, slot] = [await runs(), await nextSlot()];
    await waitFor(async () => (await nextSlot()) > slot + 2_000, { what: 'slots of the cron' });
    expect(await runs()).toBe(before);
  }
  const before = await runs();
  await editAndWait({ 'src/agent.ts': graph('five'), 'langgraph.json': config('agent') }, 'Reloaded in');
  await waitFor(async () => (await runs()) > before, { what: 'a run of the cron' });
  await client.crons.delete(cron_id);
});
