import type { Browser, BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { listAccessibilityViolations, startBrowser } from '../../harness/browser.ts';
import { newClient } from '../../harness/client.ts';
import { makePerson, newPerson, openWindow, signIn } from '../../harness/console.ts';

const { deploymentId, consoleUrl } = inject('platform');
const client = newClient();
let browser: Browser;
let context: BrowserContext;
let workspace: string;
/** A thread that waits for an answer, and its run. */
let thread: string;
let run: string;

beforeAll(async () => {
  browser = await startBrowser();
  thread = (await client.threads.create()).thread_id;
  await client.runs.wait(thread, 'approval', { input: { request: 'look' } });
  run = (await client.runs.list(thread))[0]!.run_id;
  context = await newPerson(browser);
  const window = await openWindow(context);
  await signIn(window, await makePerson('Admin'));
  workspace = new URL(window.page.url()).pathname.replace(/\/$/, '');
  await window.page.close();
});
afterAll(() => browser?.close());

const ofDeployment = `/deployments/${deploymentId}`;
/** Pages, each with what stands on it when it is whole. */
const PAGES: [string, string][] = [
  [`/?deployment=${deploymentId}`, 'textbox'],
  ['/runs', 'row'],
  ['/inbox', 'link'],
  ['/inbox?THREAD', 'textbox'],
  ['/deployments', 'row'],
  [ofDeployment, 'row'],
  [`${ofDeployment}/logs`, 'log'],
  [`${ofDeployment}/settings`, 'button'],
  [`${ofDeployment}/threads`, 'row'],
  [`${ofDeployment}/threads/THREAD`, 'row'],
  [`${ofDeployment}/threads/THREAD/runs/RUN`, 'treeitem'],
];

it.each(PAGES)('everybody can read and use %s, on wide and on narrow screens', async (pattern, role) => {
  const path = pattern
    .replace('?THREAD', `?deployment=${deploymentId}&thread=${thread}`)
    .replace('THREAD', thread)
    .replace('RUN', run);
  const { page, faults } = await openWindow(context);
  for (const width of [1440, 320]) {
    await page.setViewportSize({ width, height: 800 });
    await page.goto(consoleUrl + workspace + path);
    await page
      .locator('main')
      .getByRole(role as 'row')
      .first()
      .waitFor();
    expect(await listAccessibilityViolations(page)).toEqual([]);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    expect([width, overflow <= 0]).toEqual([width, true]);
  }
  expect(faults).toEqual([]);
  await page.close();
});
