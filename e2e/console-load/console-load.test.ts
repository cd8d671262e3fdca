/** The journeys of people through very much, with the times that they take. */
import { randomUUID } from 'node:crypto';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { startBrowser } from '../harness/browser.ts';
import { newClient } from '../harness/client.ts';
import { makePerson, newPerson, openPages, openWindow, type Pages } from '../harness/console.ts';
import { frameTimeWhileScrolling, heapMegabytes, longestTask, watchLongTasks } from './measures.ts';
import { addThreads } from './million-threads.ts';

const { deploymentId, dataDir, consoleUrl, consoleSignInUrl } = inject('platform');
const client = newClient();
const THREADS = Number(process.env.RUNYARD_TEST_THREADS ?? 1_000_000);
let browser: Browser;
let pages: Pages;

beforeAll(async () => {
  browser = await startBrowser(['--enable-precise-memory-info']);
  pages = await openPages(browser, await makePerson('Editor'));
});
afterAll(() => browser?.close());

const ofThread = (thread: string) => `/deployments/${deploymentId}/threads/${thread}`;

/** Measures, and prints, the milliseconds until something has come about. */
async function timeOf(what: string, work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  const ms = performance.now() - begun;
  report(what, `${ms.toFixed(0)} ms`);
  return ms;
}

function report(what: string, measured: string): void {
  process.stdout.write(`${what}: ${measured}\n`);
}

it('the printed link leads to a chat within 1.5 s, and the first word of an answer comes within 1 s', async () => {
  // The platform reads schemas ahead, in its first seconds: whoever is faster waits for them.
  await client.assistants.getSchemas('chat');
  const context = await newPerson(browser);
  const { page, faults, origins } = await openWindow(context);
  const message = page.getByRole('textbox', { name: 'Message' });
  const interactive = await timeOf('from the link to a chat', async () => {
    await page.goto(consoleSignInUrl);
    await page.getByLabel('Assistant').selectOption({ label: 'chat' });
    await message.fill('hello');
  });
  const answer = await timeOf('from Enter to the first word', async () => {
    await page.keyboard.press('Enter');
    await page.getByText('The quick').first().waitFor();
  });
  expect(faults).toEqual([]);
  expect([...origins].filter((origin) => origin !== consoleUrl)).toEqual([new URL(consoleSignInUrl).origin]);
  await context.close();
  expect(interactive).toBeLessThan(1_500);
  expect(answer).toBeLessThan(1_000);
});

it('a live run of 10,000 events holds up no window, and its end is shown within a second', async () => {
  const { thread_id: thread } = await client.threads.create();
  const run = await client.runs.create(thread, 'stepper', {
    input: { steps: 2_500, stepMs: 4 },
    config: { recursion_limit: 3_000, configurable: { __event_streaming_v2: true } },
  });
  const page = await pages.context.newPage();
  await watchLongTasks(page);
  await page.goto(`${pages.address}${ofThread(thread)}/runs/${run.run_id}`);
  const timeline = page.getByRole('tree', { name: 'Timeline' });
  const entries = timeline.getByRole('treeitem');
  await entries.nth(5).waitFor();
  await entries.nth(1).click();
  const selected = timeline.getByRole('treeitem', { selected: true });
  const chosen = await selected.getAttribute('id');
  await client.runs.join(thread, run.run_id);
  const end = await timeOf('from the end of the run to its status', () =>
    page.locator('dl').getByText('success').first().waitFor(),
  );
  expect(await selected.getAttribute('id')).toBe(chosen);
  const [task, heap] = [await longestTask(page), await heapMegabytes(page)];
  report('longest task', `${task.toFixed(0)} ms`);
  report('heap', `${heap.toFixed(0)} MB`);
  await page.close();
  expect(end).toBeLessThan(1_000);
  expect(task).toBeLessThan(100);
  expect(heap).toBeLessThan(60);
});

it('50,000 lines of a log scroll at 30 frames a second', async () => {
  const name = randomUUID();
  await client.runs.wait(null, 'printer', { input: { lines: 50_000, name } });
  const { page } = await pages.open(`/deployments/${deploymentId}/logs?query=${name}`);
  const log = page.getByRole('log');
  await log.getByText(`${name} 50000`).waitFor();
  await log.hover();
  const frame = await frameTimeWhileScrolling(page, { byPx: -2_000, times: 200 });
  report('95 of 100 frames while scrolling', `${frame.toFixed(0)} ms`);
  expect(frame).toBeLessThan(34);
});

it('of a million threads the first page is there within a second, and Back brings back what was seen', async () => {
  await timeOf('making a million threads', () => addThreads(dataDir, deploymentId, THREADS));
  const { page } = await pages.open('/runs');
  await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor();
  const rows = page.getByRole('table', { name: 'Threads' }).getByRole('row');
  const first = await timeOf('first page of threads', async () => {
    await page.goto(`${pages.address}/deployments/${deploymentId}/threads`);
    await rows.nth(1).waitFor();
  });
  await rows.nth(5).hover();
  const times: number[] = [];
  for (let turn = 0; turn < 10; turn++) {
    const answered = page.waitForResponse((response) => response.url().endsWith('/threads/search'));
    let hasCome = false;
    void answered.then(() => (hasCome = true));
    // A list grows after its answer, and scrolls no further than its end.
    while (!hasCome) await page.mouse.wheel(0, 500);
    const request = (await answered).request();
    await (await answered).finished();
    times.push(request.timing().responseEnd);
  }
  report('next pages', `${times.map((ms) => ms.toFixed(0)).join(', ')} ms`);
  const link = rows.nth(5).getByRole('link').first();
  const seen = await link.textContent();
  await link.click();
  await page.getByRole('heading', { level: 1, name: /^Thread/ }).waitFor();
  await page.goBack();
  await rows.getByText(seen!, { exact: true }).waitFor();
  expect(first).toBeLessThan(1_000);
  expect(Math.max(...times)).toBeLessThan(300);
});

it('the difference of two states of a megabyte is there within half a second', async () => {
  const { thread_id: thread } = await client.threads.create();
  await client.runs.wait(thread, 'large', { input: { customers: [] } });
  const page = await pages.context.newPage();
  await watchLongTasks(page);
  let states = 0;
  page.on('requestfinished', (request) => {
    if (request.url().includes('/state/')) states = performance.now();
  });
  await page.goto(`${pages.address}${ofThread(thread)}/diff`);
  await page.getByText('100 differences').waitFor();
  const shown = performance.now() - states;
  report('from the states to their difference', `${shown.toFixed(0)} ms`);
  report('longest task', `${(await longestTask(page)).toFixed(0)} ms`);
  await page.close();
  expect(shown).toBeLessThan(500);
});
