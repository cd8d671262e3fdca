import { randomUUID } from 'node:crypto';
import type { Budget } from '@runyard/contracts';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, it, onTestFinished } from 'vitest';
import { startBrowser } from '../../harness/browser.ts';
import { newClient } from '../../harness/client.ts';
import { makePerson, openPages } from '../../harness/console.ts';
import { callControlPlane } from '../../harness/control-plane.ts';

const { deploymentId } = inject('platform');
const client = newClient();
const ofDeployment = `/deployments/${deploymentId}`;
let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());

it('an Editor caps the runs of an assistant, sees them used up, raises the cap and deletes it', async () => {
  const { id: assistant, name: assistantName } = await makeAssistant();
  const pages = await openPages(browser, await makePerson('Editor'));
  const { page } = await pages.open(`/usage?deployment=${deploymentId}`);
  await page.getByRole('main').getByRole('link', { name: 'Budgets of the deployment' }).click();
  await page.getByRole('heading', { name: 'Budgets', exact: true, level: 2 }).waitFor();

  const name = `Runs ${randomUUID()}`;
  await page.getByRole('button', { name: 'New budget' }).click();
  const made = page.getByRole('dialog', { name: 'New budget' });
  await made.getByLabel('Name').fill(name);
  await made.getByLabel('Whose use is counted').selectOption('Assistants');
  await made.getByLabel('Assistant', { exact: true }).selectOption({ label: assistantName });
  await made.getByLabel('Period').selectOption('A month');
  await made.getByRole('button', { name: 'Create' }).click();
  await made.getByText('A budget caps tokens, runs or both').waitFor();
  await made.getByLabel('Runs (optional)').fill('2');
  await made.getByRole('button', { name: 'Create' }).click();
  await page.getByText(`The budget ${name} was made`).waitFor();
  const card = cardOf(page, name);
  await card.getByText(`2 runs a month for assistant ${assistantName}`).waitFor();
  await card.getByText('✓ has it').waitFor();
  await card.getByText('0 of 2 runs (0 %)').waitFor();

  const run = () => client.runs.create(null, assistant, { input: {} });
  await run();
  await run();
  await expect(run()).rejects.toMatchObject({ status: 429 });
  await card.getByText('2 of 2 runs (100 %)').waitFor();
  expect(await card.getByRole('progressbar', { name: `Runs of ${name}` }).getAttribute('value')).toBe('2');

  await card.getByRole('button', { name: `Edit ${name}` }).click();
  const edited = page.getByRole('dialog', { name: `Edit the budget ${name}` });
  await edited.getByLabel('Runs (optional)').fill('3');
  await edited.getByRole('button', { name: 'Save' }).click();
  await page.getByText(`The budget ${name} was changed`).waitFor();
  await card.getByText('✓ has it').waitFor();
  await run();
  await expect(run()).rejects.toMatchObject({ status: 429 });

  await card.getByRole('button', { name: `Only count ${name}` }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Only count' }).click();
  await page.getByText(`The budget ${name} is only counted`).waitFor();
  await card.getByText('✓ has it').waitFor();
  await run();

  await card.getByRole('button', { name: `Delete ${name}` }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText(`The budget ${name} was deleted`).waitFor();
  await card.waitFor({ state: 'detached' });
});

it('an Editor caps a creator in the whole workspace, sees it on a deployment, changes and deletes it', async () => {
  // Nobody is called so: other tests make runs in the workspace.
  const creator = randomUUID();
  const pages = await openPages(browser, await makePerson('Editor'));
  const { page } = await pages.open('/usage');
  const tabs = page.getByRole('navigation', { name: 'Parts of the usage' });
  await tabs.getByRole('link', { name: 'Budgets' }).click();

  const name = `Runs ${randomUUID()}`;
  await page.getByRole('button', { name: 'New budget' }).click();
  const made = page.getByRole('dialog', { name: 'New budget' });
  await made.getByLabel('Name').fill(name);
  await made.getByLabel('Whose use is counted').selectOption('Creators of runs');
  await made.getByLabel('One creator alone (optional)').fill(creator);
  await made.getByLabel('Period').selectOption('A month');
  await made.getByLabel('Runs (optional)').fill('2');
  await made.getByRole('button', { name: 'Create' }).click();
  await page.getByText(`The budget ${name} was made`).waitFor();
  const card = cardOf(page, name);
  await card.getByText(`2 runs a month for creator ${creator}`).waitFor();
  await card.getByText('0 of 2 runs (0 %)').waitFor();

  const { page: tab } = await pages.open(`${ofDeployment}/budgets`);
  const ofWorkspace = tab.getByRole('region', { name: 'Budgets of the workspace' });
  const listed = ofWorkspace.getByRole('listitem').filter({ hasText: name });
  expect(await listed.textContent()).toBe(`${name}: 2 runs a month for creator ${creator}`);
  expect(await cardOf(tab, name).count()).toBe(0);
  await ofWorkspace.getByRole('link', { name: 'the page of the workspace' }).click();

  const same = cardOf(tab, name);
  await same.getByRole('button', { name: `Edit ${name}` }).click();
  const edited = tab.getByRole('dialog', { name: `Edit the budget ${name}` });
  await edited.getByLabel('Runs (optional)').fill('3');
  await edited.getByRole('button', { name: 'Save' }).click();
  await tab.getByText(`The budget ${name} was changed`).waitFor();
  await same.getByText('0 of 3 runs (0 %)').waitFor();

  await same.getByRole('button', { name: `Delete ${name}` }).click();
  await tab.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await tab.getByText(`The budget ${name} was deleted`).waitFor();
  await same.waitFor({ state: 'detached' });
});

it('a Viewer sees a budget, and which permission changes it', async () => {
  const { id } = await makeAssistant();
  const budget = {
    name: `Tokens ${randomUUID()}`,
    subject: 'assistant',
    subject_id: id,
    period: 'day',
    tokens_max: 1_000,
  };
  const made = await callControlPlane<Budget>('POST', `${ofDeployment}/budgets`, budget);
  expect(made.status).toBe(201);
  onTestFinished(async () => {
    await callControlPlane('DELETE', `${ofDeployment}/budgets/${made.body.id}`);
  });
  const pages = await openPages(browser, await makePerson('Viewer'));
  const { page } = await pages.open(`${ofDeployment}/budgets`);
  const card = cardOf(page, budget.name);
  await card.getByText('0 of 1,000 tokens (0 %)').waitFor();
  const buttons = [page.getByRole('button', { name: 'New budget' }), card.getByRole('button', { name: /^Edit/ })];
  for (const button of buttons)
    expect(await button.getAttribute('title')).toBe('You need the permission deployments:update in this workspace');
});

/** Makes an assistant of its own, so that no run of another test counts. */
async function makeAssistant(): Promise<{ id: string; name: string }> {
  const { assistant_id: id, name } = await client.assistants.create({ graphId: 'echo', name: randomUUID() });
  return { id, name };
}

function cardOf(page: Page, name: string): Locator {
  return page.getByRole('article', { name });
}
