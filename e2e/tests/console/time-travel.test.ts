import type { ThreadState } from '@langchain/langgraph-sdk';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { startBrowser } from '../../harness/browser.ts';
import { newClient } from '../../harness/client.ts';
import { makePerson, openPages, type Pages } from '../../harness/console.ts';

const { deploymentId } = inject('platform');
const client = newClient();
let browser: Browser;
/** The pages of a person who may run agents. */
let pages: Pages;

beforeAll(async () => {
  browser = await startBrowser();
  pages = await openPages(browser, await makePerson('Editor'));
});
afterAll(() => browser?.close());

it('an edited checkpoint is a branch that runs on from there, beside the one that was', async () => {
  const thread = await runToEnd('approval', { request: 'look' });
  await client.runs.wait(thread, 'approval', { command: { resume: 'yes' } });
  const before = await client.threads.getHistory(thread, { limit: 100 });
  const page = await openThread(thread);
  await checkpoint(page, 'ask').click();
  await page.getByRole('button', { name: 'Edit and fork' }).click();
  const edit = page.getByRole('dialog', { name: 'Edit and fork' });
  await edit.getByLabel(/^decision/).fill('no');
  await edit.getByText('Changes: decision.').waitFor();
  await edit.getByRole('button', { name: 'Fork' }).click();
  const { writers, run } = await runFromDialog(page, thread);
  expect(writers('')).toEqual(['act']);
  const { values } = await client.threads.getState<{ log: string[] }>(thread);
  expect(values.log).toEqual(['prepared look', 'heard yes', 'left it']);
  const after = await client.threads.getHistory(thread, { limit: 100 });
  expect(after.filter(({ metadata }) => metadata?.run_id !== run).slice(1)).toEqual(before);
  await page.goto(`${pages.address}${pageOf(thread)}`);
  await page.getByRole('link', { name: 'What changed' }).click();
  await page.getByLabel('From').selectOption(String(before[0]!.checkpoint.checkpoint_id));
  const changes = page.getByRole('region', { name: 'Differences' });
  await changes.getByText('left it').waitFor();
  await changes.getByText('did look').waitFor();
});

it('a run from the checkpoint of a subgraph starts there, with its edited state', async () => {
  const thread = await runToEnd('assembly', { screws: 1 });
  const before = await client.threads.getHistory(thread, { limit: 100 });
  const page = await openThread(thread);
  await checkpoint(page, 'Start').click();
  await innerCheckpoint(page, 'outer', 'next: inner').click();
  await innerCheckpoint(page, 'inner', 'next: turn').click();
  await page.getByRole('heading', { name: 'History of inner' }).waitFor();
  await page.getByRole('button', { name: 'Run again from here' }).click();
  const again = await runFromDialog(page, thread);
  expect([again.writers(''), again.writers('outer'), again.writers('inner')]).toEqual([['outer'], ['inner'], ['turn']]);
  await page.goBack();
  await page.getByRole('button', { name: 'Edit and fork' }).click();
  const edit = page.getByRole('dialog', { name: 'Edit and fork' });
  await edit.getByLabel(/^screws/).fill('40');
  await edit.getByRole('button', { name: 'Fork' }).click();
  const edited = await runFromDialog(page, thread);
  expect(edited.writers('inner')).toEqual(['turn']);
  expect((await client.threads.getState(thread)).values).toEqual({ screws: 41 });
  const after = await client.threads.getHistory(thread, { limit: 100 });
  expect(after.slice(-before.length)).toEqual(before);
});

it('a run from a checkpoint stops at the nodes that are chosen', async () => {
  const thread = await runToEnd('approval', { request: 'look' });
  const page = await openThread(thread);
  await checkpoint(page, 'Start').click();
  await page.getByRole('button', { name: 'Run again from here' }).click();
  await page.getByText('Breakpoints').click();
  await page.getByLabel('Stop after prepare').check();
  await runFromDialog(page, thread);
  const { next, tasks } = await client.threads.getState(thread);
  expect([next, tasks.flatMap(({ interrupts }) => interrupts)]).toEqual([['ask'], []]);
});

async function runToEnd(graph: string, input: Record<string, unknown>): Promise<string> {
  const { thread_id: thread } = await client.threads.create();
  await client.runs.wait(thread, graph, { input });
  return thread;
}

const pageOf = (thread: string) => `/deployments/${deploymentId}/threads/${thread}`;

async function openThread(thread: string): Promise<Page> {
  const { page } = await pages.open(pageOf(thread));
  return page;
}

/** The checkpoint of a thread that a node wrote. */
const checkpoint = (page: Page, writer: string) =>
  page
    .getByRole('list', { name: 'Checkpoints, newest first' })
    .getByRole('link')
    .filter({ has: page.getByText(writer, { exact: true }) });

/** The checkpoint of a subgraph after which something comes. */
const innerCheckpoint = (page: Page, subgraph: string, next: string) =>
  page
    .getByRole('list', { name: `Checkpoints of ${subgraph}, newest first` })
    .getByRole('link')
    .filter({ hasText: next });

/** Makes the run that the open dialog is about. Its `writers` are the nodes that it ran, by the graph that they are of. */
async function runFromDialog(page: Page, thread: string) {
  const dialog = page.getByRole('dialog', { name: 'Run again from here' });
  await dialog.getByRole('button', { name: 'Run', exact: true }).click();
  await page.waitForURL(/\/runs\//);
  const run = new URL(page.url()).pathname.split('/').at(-1)!;
  await client.runs.join(thread, run);
  const states = await statesOf(thread, run, '');
  const writers = (graph: string) => states.flatMap((state) => (state.graph === graph ? state.writers : []));
  return { run, writers };
}

interface StateOfRun {
  graph: string;
  writers: string[];
}

/** Lists what a run wrote, in the graph of a namespace and in those within. */
async function statesOf(thread: string, run: string, namespace: string): Promise<StateOfRun[]> {
  const checkpoint = { thread_id: thread, checkpoint_ns: namespace, checkpoint_id: null, checkpoint_map: null };
  const history = await client.threads.getHistory(thread, { limit: 100, ...(namespace !== '' && { checkpoint }) });
  const graph = namespace.split('|').at(-1)!.split(':')[0]!;
  const own = history.filter(({ metadata }) => metadata?.run_id === run);
  const begun = new Set(own.map(({ parent_checkpoint: parent }) => parent?.checkpoint_id));
  const within = await Promise.all(
    history
      .filter(({ checkpoint: { checkpoint_id: id } }) => begun.has(id))
      .flatMap(({ tasks }) => tasks.flatMap(({ checkpoint }) => checkpoint?.checkpoint_ns ?? []))
      .map((inner) => statesOf(thread, run, inner)),
  );
  return [...own.map((state) => ({ graph, writers: writersOf(state) })), ...within.flat()];
}

function writersOf({ metadata }: ThreadState): string[] {
  return Object.keys((metadata as { writes?: object } | null)?.writes ?? {});
}
