import { randomUUID } from 'node:crypto';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { startBrowser } from '../../harness/browser.ts';
import { newClient } from '../../harness/client.ts';
import { makePerson, openPages, type Pages } from '../../harness/console.ts';

const { deploymentId } = inject('platform');
const client = newClient();
const ofDeployment = `/deployments/${deploymentId}`;
let browser: Browser;
/** The pages of a person who may do everything in the workspace: Editors may not delete. */
let pages: Pages;

beforeAll(async () => {
  browser = await startBrowser();
  pages = await openPages(browser, await makePerson('Admin'));
});
afterAll(() => browser?.close());

it('an assistant is made in the browser, changed, and set back to the version before', async () => {
  const name = randomUUID();
  const { page } = await pages.open(`${ofDeployment}/assistants?graph=dynamic`);
  await page.getByRole('button', { name: 'New assistant' }).click();
  const made = page.getByRole('dialog', { name: 'New assistant' });
  await made.getByLabel('Context').fill('{ "node": "first" }');
  await made.getByRole('button', { name: 'Create' }).click();
  await made.getByText('An assistant needs a name').waitFor();
  await made.getByLabel('Name').fill(name);
  await made.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('heading', { name, level: 1 }).waitFor();
  await page.getByRole('group', { name: 'first' }).waitFor();
  const [assistant] = await client.assistants.search({ name });
  const { assistant_id: id } = assistant!;
  expect(assistant).toMatchObject({ graph_id: 'dynamic', version: 1, context: { node: 'first' } });

  await page.getByRole('button', { name: 'Edit …' }).click();
  const edited = page.getByRole('dialog', { name: `Edit ${name}` });
  await edited.getByLabel('Context').fill('{ "node": "second" }');
  await edited.getByRole('button', { name: 'Save as a new version' }).click();
  await page.getByRole('group', { name: 'second' }).waitFor();
  await page.getByRole('link', { name: 'Version 2' }).click();
  const version = page.getByRole('region', { name: 'Version 2' });
  await version.getByText('What differs from version 1').waitFor();
  await version.getByText('context › node').waitFor();
  await page.getByRole('button', { name: 'Make it the current version: 1' }).click();
  await page.getByText('Runs use version 1 from now on').waitFor();
  expect(await client.assistants.get(id)).toMatchObject({ version: 1, context: { node: 'first' } });
});

it('an assistant is found by its name, and deleted; one of the platform says why it stays', async () => {
  const name = randomUUID();
  await client.assistants.create({ graphId: 'echo', name: `The ${name}` });
  const { page } = await pages.open(`${ofDeployment}/assistants`);
  await page.getByLabel('Name').fill(name);
  await page.keyboard.press('Enter');
  await page.getByText('1 assistant', { exact: true }).waitFor();
  await page.getByRole('link', { name: `The ${name}`, exact: true }).click();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.waitForURL(/\/assistants$/);
  expect(await client.assistants.search({ name })).toEqual([]);
  // Other tests make more assistants than a page of the list has.
  const [ofPlatform] = await client.assistants.search({ graphId: 'echo', metadata: { created_by: 'system' } });
  await page.goto(`${pages.address}${ofDeployment}/assistants/${ofPlatform!.assistant_id}`);
  await page.getByRole('heading', { name: 'echo', level: 1 }).waitFor();
  const remove = page.getByRole('button', { name: 'Delete' });
  expect(await remove.getAttribute('title')).toContain('The platform made this assistant');
});

it('the drawing of a run shows which node runs, and how it ended, as it happens', async () => {
  const { thread_id: thread } = await client.threads.create();
  const input = { steps: 8, stepMs: 500, name: randomUUID() };
  const { run_id: run } = await client.runs.create(thread, 'slow', { input });
  const { page } = await pages.open(`${ofDeployment}/threads/${thread}/runs/${run}`);
  await page.getByRole('group', { name: /^step, runs now/ }).waitFor();
  await page.getByRole('group', { name: 'step, ran, 8 times' }).waitFor();
  await page.getByText('The graph as a list').click();
  const lines = page.getByRole('list', { name: 'Nodes of the graph' }).getByRole('listitem');
  expect(await lines.nth(1).textContent()).toMatch(/^step \(ran, 8 times\) leads to .*step \(on a condition\)/);
});
