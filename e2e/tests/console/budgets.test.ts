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
  await page.getByRole('main').getByRole('link', { name: 'Budgets' }).click();
  await page.getByRole('heading', { name: 'Budgets', level: 2 }).waitFor();

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
