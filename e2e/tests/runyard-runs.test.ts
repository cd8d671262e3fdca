import { randomUUID } from 'node:crypto';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startPublicServer } from '@runyard/test-kit';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { newClient } from '../harness/client.ts';
import { PROBE_PROJECT } from '../harness/platform.ts';
import { parseJsonLines, runyard, startRunyard } from '../harness/runyard-cli.ts';

interface Line {
  event: string;
  name?: string;
  id?: string;
  data?: unknown;
  status?: string;
  thread_id?: string;
  run_id?: string;
}

const hasControl = (text: string) => ['\u001b', '\u009b'].some((character) => text.includes(character));
const client = newClient();
const cli = (...args: string[]) => runyard([...args, '--deployment', inject('platform').deploymentId]);
const linesOf = async (...args: string[]) => parseJsonLines<Line>(await cli(...args, '--json'));
const newThread = async (metadata = {}) => (await client.threads.create({ metadata })).thread_id;
const slowly = (steps: number, stepMs: number) => ({ steps, stepMs, name: 'cli', done: [] });
const doneOf = async (threadId: string) => (await client.threads.getState<{ done: string[] }>(threadId)).values.done;

describe('runyard threads and assistants', () => {
  it('list the threads that a filter matches, and show what one waits for and its runs', async () => {
    const owner = randomUUID();
    const threadId = await newThread({ owner, hostile: 'red \u001b[31m\u009b2J' });
    await newThread({ owner: 'nobody' });
    await client.runs.wait(threadId, 'approval', { input: { request: 'water the plants' } });
    const [run] = await client.runs.list(threadId);

    const listed = await cli('threads', 'list', '--metadata', `owner=${owner}`, '--status', 'interrupted');
    expect(listed).toMatchObject({ code: 0 });
    expect(listed.output.trim().split('\n')).toHaveLength(3);
    expect(listed.output).toContain(threadId);
    expect(hasControl(listed.output)).toBe(false);
    expect(await linesOf('threads', 'list', '--metadata', `owner=${owner}`)).toMatchObject([{ thread_id: threadId }]);

    const shown = (await cli('threads', 'show', threadId, '--checkpoints', '3')).output;
    for (const part of ['interrupted', 'May I water the plants?', run!.run_id, 'CHECKPOINT', 'ask']) {
      expect(shown).toContain(part);
    }
    expect(hasControl(shown)).toBe(false);
    expect(await linesOf('threads', 'show', threadId)).toMatchObject([{ thread_id: threadId, runs: [{}] }]);

    const runs = (await cli('runs', 'list', threadId, '--status', 'success')).output;
    expect(runs).toContain(run!.run_id);
    expect((await cli('runs', 'show', threadId, run!.run_id)).output).toMatch(/Input +{request: "water the plants"}/);
  });

  it('list the assistants of a graph, and show its schemas and edges by its name', async () => {
    const listed = (await cli('assistants', 'list', '--graph', 'approval')).output;
    expect(listed).toMatch(/^ASSISTANT .*\n-.*\n[0-9a-f-]{36} +approval +approval +1 /);
    const shown = (await cli('assistants', 'show', 'approval', '--graph')).output;
    expect(shown).toMatch(/Takes +request: string\n/);
    expect(shown).toContain('prepare --> ask');
  });

  it.each([
    ['threads', 'show', randomUUID()],
    ['runs', 'list', randomUUID()],
    ['runs', 'show', randomUUID(), randomUUID()],
    ['runs', 'tail', randomUUID()],
    ['runs', 'cancel', randomUUID(), randomUUID()],
    ['runs', 'replay', randomUUID(), randomUUID()],
    ['assistants', 'show', randomUUID()],
    ['assistants', 'show', 'no-such-graph'],
  ])('say that what does not exist is not there: %s %s', async (...args) => {
    const ended = await cli(...args);
    expect(ended.code, ended.output).toBe(4);
    expect(ended.output).toMatch(/^(There is no|The thread .* has neither)/);
  });
});

describe('runyard runs tail', () => {
  it('shows each event of a run once, those before it too, and ends with the run', async () => {
    const threadId = await newThread();
    const input = slowly(3, 300);
    const run = await client.runs.create(threadId, 'slow', { input, streamMode: 'values', streamResumable: true });
    const lines = await linesOf('runs', 'tail', threadId, run.run_id);
    expect(lines.map(({ name }) => name)).toEqual(['metadata', 'values', 'values', 'values', 'values', undefined]);
    expect(new Set(lines.slice(0, -1).map(({ id }) => id)).size).toBe(lines.length - 1);
    expect(lines.at(-1)).toEqual({ event: 'result', status: 'success', thread_id: threadId, run_id: run.run_id });
  });

  it('ends with 0 and the question where the run asks, and with 1 where it fails', async () => {
    const asking = await newThread();
    await client.runs.create(asking, 'approval', { input: { request: 'sing' }, streamResumable: true });
    const asked = await cli('runs', 'tail', asking);
    expect(asked).toMatchObject({
      code: 0,
      output: expect.stringContaining('for an answer: {question: "May I sing?"}'),
    });

    const failing = await newThread();
    await client.runs.create(failing, 'boom', { input: { heat: 1 }, streamResumable: true });
    const failed = await cli('runs', 'tail', failing);
    expect(failed).toMatchObject({
      code: 1,
      output: expect.stringMatching(/error .*KettleError[\s\S]*The run failed/),
    });
  });

  it('that is interrupted leaves the run alone', async () => {
    const threadId = await newThread();
    const run = await client.runs.create(threadId, 'slow', { input: slowly(1_000, 400) });
    const tail = startRunyard(['runs', 'tail', threadId, '--deployment', inject('platform').deploymentId]);
    await expect.poll(tail.output).toContain('values');
    tail.child.kill('SIGINT');
    expect(await tail.ended).toMatchObject({ code: 130, output: expect.stringContaining('goes on without') });
    expect((await client.runs.get(threadId, run.run_id)).status).toBe('running');
    await client.runs.cancel(threadId, run.run_id, true);
  });
});

describe('runyard runs cancel', () => {
  it('cancels a run, waits for its end, and says when there is nothing to cancel any more', async () => {
    const threadId = await newThread();
    const { run_id: runId } = await client.runs.create(threadId, 'slow', { input: slowly(1, 60_000) });
    expect(await cli('runs', 'cancel', threadId, runId, '--wait')).toEqual({
      code: 0,
      output: 'The run is cancelled.\n',
    });
    expect((await client.runs.get(threadId, runId)).status).toBe('interrupted');
    const again = await cli('runs', 'cancel', threadId, runId);
    expect(again).toEqual({ code: 1, output: 'The run has ended already: interrupted.\n' });
    expect((await cli('runs', 'tail', threadId, runId)).code).toBe(1);
  });

  it('with a rollback leaves nothing of the run', async () => {
    const threadId = await newThread();
    const { run_id: runId } = await client.runs.create(threadId, 'slow', { input: slowly(1, 60_000) });
    await expect.poll(async () => (await client.runs.get(threadId, runId)).status).toBe('running');
    const [result] = await linesOf('runs', 'cancel', threadId, runId, '--action', 'rollback', '--wait');
    expect(result).toMatchObject({ event: 'result', status: 'rolled_back' });
    expect((await cli('runs', 'show', threadId, runId)).code).toBe(4);
  });
});

describe('runyard runs replay', () => {
  const replay = async (...args: string[]) => (await linesOf('runs', 'replay', ...args)).at(-1)!;

  it('repeats a run from the state before it, the first of a thread too', async () => {
    const threadId = await newThread();
    await client.runs.wait(threadId, 'slow', { input: { ...slowly(1, 1), name: 'one' } });
    const [first] = await client.runs.list(threadId);
    await client.runs.wait(threadId, 'slow', { input: { steps: 2, name: 'two' } });
    const [second] = await client.runs.list(threadId);
    expect(await doneOf(threadId)).toEqual(['one:0', 'two:1', 'two:0']);

    const again = await replay(threadId, second!.run_id);
    expect(again).toMatchObject({ event: 'result', status: 'success', thread_id: threadId });
    expect(await doneOf(threadId)).toEqual(['one:0', 'two:1', 'two:0']);
    const run = await client.runs.get(threadId, again.run_id!);
    expect(run.metadata).toMatchObject({ runyard_replay_of: second!.run_id });

    expect(await replay(threadId, first!.run_id)).toMatchObject({ status: 'success' });
    expect(await doneOf(threadId)).toEqual(['one:0']);
  });

  it('repeats the answer to a question, and asks again from the checkpoint of the question', async () => {
    const threadId = await newThread();
    await client.runs.wait(threadId, 'approval', { input: { request: 'sing' } });
    await client.runs.wait(threadId, 'approval', { command: { resume: 'yes' } });
    const [answered, asked] = await client.runs.list(threadId);
    const values = (await client.threads.getState<{ log: string[] }>(threadId)).values;
    expect(await replay(threadId, answered!.run_id)).toMatchObject({ status: 'success' });
    expect((await client.threads.getState(threadId)).values).toEqual(values);

    const history = await client.threads.getHistory(threadId, { limit: 50 });
    const question = history.find(({ next }) => next.includes('ask'))!;
    const told = await replay(threadId, question.checkpoint.checkpoint_id!);
    expect(told).toMatchObject({ status: 'success', interrupts: [{ value: { question: 'May I sing?' } }] });
    expect(await replay(threadId, asked!.run_id)).toMatchObject({ status: 'success', interrupts: [{}] });
  });

  it('is refused while the thread is busy', async () => {
    const threadId = await newThread();
    await client.runs.wait(threadId, 'slow', { input: slowly(1, 1) });
    const [run] = await client.runs.list(threadId);
    const { run_id: busy } = await client.runs.create(threadId, 'slow', { input: slowly(1, 60_000) });
    const refused = await cli('runs', 'replay', threadId, run!.run_id);
    expect(refused).toMatchObject({ code: 1, output: expect.stringContaining('already running a task') });
    await client.runs.cancel(threadId, busy, true);
  });

  it('on a copy leaves the thread alone', async () => {
    const threadId = await newThread();
    await client.runs.wait(threadId, 'slow', { input: slowly(2, 1) });
    const [run] = await client.runs.list(threadId);
    const before = await client.threads.getState(threadId);
    const copied = await replay(threadId, run!.run_id, '--copy');
    expect(copied).toMatchObject({ status: 'success', thread_id: expect.not.stringContaining(threadId) });
    expect(await doneOf(copied.thread_id!)).toEqual(['cli:1', 'cli:0']);
    expect(await client.threads.getState(threadId)).toEqual(before);
    expect(await client.runs.list(threadId)).toHaveLength(1);
  });
});

it('the public server is looked at by its URL, and its runs are replayed', async () => {
  const project = await mkdtemp(path.join(tmpdir(), 'runyard-looked-at-'));
  onTestFinished(() => rm(project, { recursive: true }));
  await cp(path.join(PROBE_PROJECT, 'graphs'), path.join(project, 'graphs'), { recursive: true });
  await writeFile(path.join(project, 'langgraph.json'), JSON.stringify({ graphs: { slow: './graphs/slow.ts:graph' } }));
  const server = await startPublicServer({ folder: path.resolve(import.meta.dirname, '..'), project });
  onTestFinished(() => server.stop());
  const theirs = newClient({ apiUrl: server.url });
  const { thread_id: threadId } = await theirs.threads.create();
  const run = await theirs.runs.create(threadId, 'slow', { input: slowly(2, 200), streamResumable: true });
  const look = async (...args: string[]) =>
    parseJsonLines<Line>(await runyard([...args, '--json', '--url', server.url], undefined, {}));
  const tailed = await look('runs', 'tail', threadId, run.run_id);
  expect(tailed.map(({ name, status }) => name ?? status)).toEqual([
    'metadata',
    'values',
    'values',
    'values',
    'success',
  ]);
  expect(await look('threads', 'list', '--status', 'idle')).toMatchObject([{ thread_id: threadId }]);
  const replayed = (await look('runs', 'replay', threadId, run.run_id, '--copy')).at(-1)!;
  expect(replayed.status).toBe('success');
  const state = await theirs.threads.getState<{ done: string[] }>(replayed.thread_id!);
  expect(state.values.done).toEqual(['cli:1', 'cli:0']);
});
