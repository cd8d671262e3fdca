import type { Budget } from '@runyard/contracts';
import type { Browser, BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { listAccessibilityViolations, startBrowser } from '../../harness/browser.ts';
import { newClient } from '../../harness/client.ts';
import { makePerson, newPerson, openWindow, signIn } from '../../harness/console.ts';
import { callControlPlane } from '../../harness/control-plane.ts';

const { deploymentId, consoleUrl } = inject('platform');
const client = newClient();
const OF_WORKSPACE = '/workspaces/current/budgets';
let browser: Browser;
let context: BrowserContext;
let workspace: string;
/** A thread that waits for an answer. */
let waiting: string;
/** A thread with messages, and its run with calls of tools in a subgraph. */
let thread: string;
let run: string;
/** A run on a copy of that thread, as the search of an address. */
let shadow: string;
/** The assistant of the platform whose graph has a subgraph. */
let assistant: string;
/** A budget of the workspace. */
let workspaceBudget: string;
/** The subgraph of that thread. */
let namespace: string;
/** The folder that pictures of pages are kept in, for the README; undefined: none is. */
const { RUNYARD_PICTURES: pictures } = process.env;

beforeAll(async () => {
  browser = await startBrowser();
  waiting = (await client.threads.create()).thread_id;
  await client.runs.wait(waiting, 'approval', { input: { request: 'email ada@example.com' } });
  await client.runs.wait(null, 'boom', { input: { heat: 3 } }).catch(() => {});
  thread = (await client.threads.create()).thread_id;
  const input = { messages: [{ role: 'user', content: 'What is the weather in Oslo?' }] };
  await client.runs.wait(thread, 'office', { input });
  run = (await client.runs.list(thread))[0]!.run_id;
  const { thread_id: copy } = (await client.threads.copy(thread)) as unknown as { thread_id: string };
  await client.runs.wait(copy, 'chat', { input, metadata: { replay_of: run } });
  shadow = `thread=${copy}&run=${(await client.runs.list(copy))[0]!.run_id}`;
  assistant = (await client.assistants.search({ graphId: 'office' }))[0]!.assistant_id;
  const history = await client.threads.getHistory(thread);
  namespace = history.flatMap(({ tasks }) => tasks.flatMap(({ checkpoint }) => checkpoint?.checkpoint_ns ?? []))[0]!;
  await client.store.putItem(['accessibility', 'a/b'], 'shown', { theme: 'dark' });
  await client.crons.create('echo', { schedule: '0 3 29 2 *', enabled: false });
  // They are for nobody, since other tests make runs of the deployment.
  const budget = {
    name: 'Tokens',
    subject: 'creator',
    subject_id: crypto.randomUUID(),
    period: 'day',
    tokens_max: 1_000,
  };
  expect((await callControlPlane('POST', `/deployments/${deploymentId}/budgets`, budget)).status).toBe(201);
  const made = await callControlPlane<Budget>('POST', OF_WORKSPACE, budget);
  expect(made.status).toBe(201);
  workspaceBudget = made.body.id;
  context = await newPerson(browser);
  const window = await openWindow(context);
  await signIn(window, await makePerson('Admin', 'Admin'));
  workspace = new URL(window.page.url()).pathname.replace(/\/$/, '');
  await window.page.close();
});
afterAll(async () => {
  await browser?.close();
  // Deployments of other tests would have it too.
  if (workspaceBudget) await callControlPlane('DELETE', `${OF_WORKSPACE}/${workspaceBudget}`);
});

const ofDeployment = `/deployments/${deploymentId}`;
/** Pages, each with what stands on it when it is whole, and the name of its picture. */
const PAGES: [string, string, string?][] = [
  [`/?deployment=${deploymentId}&thread=THREAD`, 'textbox', 'chat'],
  [`/?deployment=${deploymentId}`, 'textbox'],
  ['/runs', 'row', 'runs'],
  ['/inbox', 'link'],
  [`/inbox?deployment=${deploymentId}&thread=WAITING`, 'textbox', 'inbox'],
  ['/deployments', 'row'],
  [ofDeployment, 'row'],
  [`${ofDeployment}/logs`, 'log'],
  [`${ofDeployment}/settings`, 'button'],
  [`${ofDeployment}/threads`, 'row'],
  [`${ofDeployment}/threads/THREAD`, 'row', 'thread'],
  [`${ofDeployment}/threads/THREAD?ns=NAMESPACE`, 'row'],
  [`${ofDeployment}/threads/THREAD/runs/RUN`, 'treeitem', 'run'],
  [`${ofDeployment}/threads/THREAD/runs/RUN/replay`, 'combobox'],
  [`${ofDeployment}/threads/THREAD/runs/RUN/replay?SHADOW`, 'article', 'replay'],
  [`${ofDeployment}/threads/WAITING/diff`, 'article'],
  [`${ofDeployment}/assistants`, 'row'],
  [`${ofDeployment}/assistants/ASSISTANT?version=1`, 'tree', 'assistant'],
  [`${ofDeployment}/crons`, 'row'],
  [`${ofDeployment}/budgets`, 'article'],
  [`${ofDeployment}/store`, 'row'],
  [`${ofDeployment}/store?namespace=["accessibility","a/b"]&key=shown`, 'tree'],
  ['/usage?range=day&by=key&and=model', 'img'],
  ['/usage/budgets', 'article'],
  ['/organization', 'row'],
  ['/organization/roles', 'row'],
  ['/organization/keys', 'button'],
  ['/organization/sso', 'button'],
  ['/organization/scim', 'button'],
  ['/organization/audit', 'button'],
  ['/organization/access', 'combobox'],
  ['/account', 'row'],
];

it.each(PAGES)('everybody can read and use %s, on wide and on narrow screens', async (pattern, role, picture) => {
  const path = pattern
    .replace('WAITING', waiting)
    .replace('THREAD', thread)
    .replace('RUN', run)
    .replace('SHADOW', shadow)
    .replace('ASSISTANT', assistant)
    .replace('NAMESPACE', namespace);
  const { page, faults } = await openWindow(context);
  for (const width of [1440, 320]) {
    await page.setViewportSize({ width, height: 800 });
    await page.goto(consoleUrl + workspace + path);
    await page
      .locator('main')
      .getByRole(role as 'row')
      .first()
      .waitFor();
    if (pictures && picture && width > 320) await page.screenshot({ path: `${pictures}/${picture}.png` });
    expect(await listAccessibilityViolations(page)).toEqual([]);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    expect([width, overflow <= 0]).toEqual([width, true]);
  }
  expect(faults).toEqual([]);
  await page.close();
});
