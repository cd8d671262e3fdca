import { randomUUID } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, it, onTestFinished } from 'vitest';
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
  pages = await openPages(browser, await makePerson('Admin'));
});
afterAll(() => browser?.close());

it('a run is replayed with another assistant beside it, and the original stays as it is', async () => {
  const { thread, runs } = await chat('chat', ['good morning', 'hello']);
  await client.runs.wait(thread, 'chat', { input: messagesOf('and later') });
  const before = await everythingOf(thread);
  const page = await open(`/deployments/${deploymentId}/threads/${thread}/runs/${runs[1]}`);
  await page.getByRole('link', { name: 'Replay in shadow' }).click();
  await page.getByLabel('Assistant').selectOption({ label: 'echo (graph echo)' });
  await page.getByRole('button', { name: 'Replay in shadow' }).click();
  await page.getByText('The shadow has ended').waitFor();
  const side = (name: string) => page.getByRole('region', { name, exact: true }).getByRole('list');
  await side('Original').getByText('The quick brown fox jumps over the lazy dog.').waitFor();
  await side('Shadow').getByText('echo: hello').waitFor();
  for (const name of ['Original', 'Shadow'])
    await side(name).getByRole('listitem').first().getByText('hello').waitFor();
  await page.getByRole('row').filter({ hasText: 'talk' }).waitFor();
  await page
    .getByRole('row', { name: 'Duration' })
    .getByText(/ms .*%|the same/)
    .waitFor();
  await page.getByRole('region', { name: 'Differences' }).getByText('messages › 3 › content').waitFor();
  expect(await everythingOf(thread)).toBe(before);

  const shadow = new URL(page.url()).searchParams.get('thread')!;
  expect((await client.threads.getState<Values>(shadow)).values.messages.map(({ content }) => content)).toEqual([
    'good morning',
    'The quick brown fox jumps over the lazy dog.',
    'hello',
    'echo: hello',
  ]);
  await page.getByRole('button', { name: 'Delete the shadow' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Replay in shadow' }).waitFor();
  await expect(client.threads.get(shadow)).rejects.toThrow('404');
  expect(await everythingOf(thread)).toBe(before);
});

it('runs are replayed together, and one whose thread was deleted stops no other', async () => {
  const words = Array.from({ length: 4 }, () => randomUUID());
  const threads = await Promise.all(words.map(async (word) => (await chat('chat', [word])).thread));
  const page = await open(`/runs?thread=${threads.join(',')}`);
  await expect.poll(() => page.getByRole('row').count()).toBe(5);
  await client.threads.delete(threads[3]!);
  await page.getByLabel('Select all runs that are shown').check();
  await page.getByRole('button', { name: 'Replay 4 runs' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Assistant').selectOption({ label: 'echo (graph echo)' });
  await dialog.getByRole('button', { name: 'Replay', exact: true }).click();
  await dialog.getByText('3 of 4 shadows made, 1 could not be.').waitFor();
  await dialog.getByText('Its deployment does not have the run any more').waitFor();
  expect(await dialog.getByRole('link', { name: 'compare with its shadow' }).count()).toBe(3);
  await dialog.getByRole('link', { name: 'Show the shadows in the list' }).click();
  await dialog.waitFor({ state: 'detached' });
  await expect.poll(() => page.getByRole('row').filter({ hasText: 'success' }).count()).toBe(3);
  for (const thread of threads.slice(0, 3)) expect(await client.runs.list(thread)).toHaveLength(1);
  await page.getByRole('row').nth(1).getByRole('link').first().click();
  await page
    .getByText(/echo: .{36}/)
    .first()
    .waitFor();
});

interface Values {
  messages: { content: string }[];
}

const messagesOf = (content: string) => ({ messages: [{ role: 'user', content }] });

/** Makes a run for each of the texts on a new thread. Its `runs` are in that order. */
async function chat(graph: string, texts: readonly string[]) {
  const { thread_id: thread } = await client.threads.create();
  for (const text of texts) await client.runs.wait(thread, graph, { input: messagesOf(text) });
  const runs = (await client.runs.list(thread)).map(({ run_id: id }) => id);
  return { thread, runs: runs.reverse() };
}

/** All that the API shows of a thread, as text. */
async function everythingOf(thread: string): Promise<string> {
  const [state, history] = [
    await client.threads.getState(thread),
    await client.threads.getHistory(thread, { limit: 100 }),
  ];
  return JSON.stringify([await client.threads.get(thread), state, history, await client.runs.list(thread)]);
}

async function open(path: string): Promise<Page> {
  const { page, faults } = await pages.open(path);
  onTestFinished(() => {
    // Browsers report every 404, also those of what was deleted on purpose.
    faults.splice(0, faults.length, ...faults.filter((text) => !text.includes('404 (Not Found)')));
  });
  return page;
}
