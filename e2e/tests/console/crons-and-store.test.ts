import { randomUUID } from 'node:crypto';
import { WebhookReceiver, waitFor } from '@runyard/test-kit';
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
let receiver: WebhookReceiver;

beforeAll(async () => {
  receiver = await new WebhookReceiver().open();
  browser = await startBrowser();
  pages = await openPages(browser, await makePerson('Admin'));
});
afterAll(async () => {
  await browser?.close();
  await receiver?.close();
});

it('a cron is made in the browser, corrected, changed, paused and deleted', async () => {
  const minute = Math.floor(Math.random() * 60);
  const schedule = `${minute} 3 29 2 *`;
  const { page, faults } = await pages.open(`${ofDeployment}/crons`);
  await page.getByRole('button', { name: 'New cron' }).click();
  const made = page.getByRole('dialog', { name: 'New cron' });
  await made.getByLabel('Assistant').selectOption({ label: 'echo' });
  await made.getByLabel('Schedule').fill('every leap day');
  await made.getByLabel('Time zone').fill('Asia/Tokyo');
  await made.getByLabel('Metadata').fill('{ "team": "blue" }');
  await made.getByRole('button', { name: 'Create' }).click();
  await made.getByText('Invalid cron schedule').waitFor();
  // Browsers report the refusal of the platform, which was to be.
  faults.splice(0, faults.length, ...faults.filter((text) => !text.includes('422')));
  await made.getByLabel('Schedule').fill(schedule);
  await made.getByRole('button', { name: 'Create' }).click();
  await page.getByText(`The cron ${schedule} was made`).waitFor();
  const [cron] = (await client.crons.search({ limit: 100 })).filter((each) => each.schedule === schedule);
  const { cron_id: id } = cron!;
  expect(cron).toMatchObject({ timezone: 'Asia/Tokyo', metadata: { team: 'blue' }, thread_id: null });

  // Other tests make crons that fire sooner, and the list is read anew meanwhile.
  const edit = page.getByRole('button', { name: `Edit the cron ${schedule}` });
  const more = page.getByRole('button', { name: /^More/ });
  const seesEdit = async () => {
    if (await edit.isVisible()) return true;
    // It goes away with the last page.
    if (await more.isVisible()) await more.click({ timeout: 1_000 }).catch(() => undefined);
    return false;
  };
  await waitFor(seesEdit, { what: 'the cron in the list' });
  await edit.click();
  const edited = page.getByRole('dialog', { name: `Edit the cron ${schedule}` });
  await edited.getByLabel('End (optional)').fill('2032-01-01T10:00');
  await edited.getByRole('button', { name: 'Save' }).click();
  await page.getByText(`The cron ${schedule} was changed`).waitFor();
  await page.getByRole('button', { name: `Pause the cron ${schedule}` }).click();
  await page.getByText(`The cron ${schedule} is paused`).waitFor();
  const [paused] = (await client.crons.search({ limit: 100 })).filter((each) => each.cron_id === id);
  expect(paused).toMatchObject({ enabled: false, end_time: expect.stringContaining('2032-01-01') });

  await page.getByRole('button', { name: `Delete the cron ${schedule}` }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText(`The cron ${schedule} was deleted`).waitFor();
  expect((await client.crons.search({ limit: 100 })).filter((each) => each.cron_id === id)).toEqual([]);
});

it('an item of a namespace of any characters is found in its tree, changed, and deleted', async () => {
  const namespace = [randomUUID(), 'a/b & "c" %', '*'];
  await client.store.putItem(namespace, '#1?', { theme: 'dark' });
  await client.store.putItem(namespace, '2', { theme: 'light' });
  const { page } = await pages.open(
    `${ofDeployment}/store?namespace=${encodeURIComponent(JSON.stringify(namespace.slice(0, 1)))}`,
  );
  await page.getByRole('button', { name: `Namespaces below ${namespace[0]}` }).click();
  await page.getByRole('button', { name: `Namespaces below ${namespace[1]}` }).click();
  const tree = page.getByRole('navigation', { name: 'Namespaces' });
  await tree.getByRole('link', { name: '*', exact: true }).click();
  await page.getByRole('heading', { name: namespace.join(' › '), level: 2 }).waitFor();
  await page.getByLabel('Filter').fill('{ "theme": { "$ne": "light" } }');
  await page.keyboard.press('Enter');
  await page.getByText('1 item, what changed last first').waitFor();
  await page.getByRole('link', { name: '#1?', exact: true }).click();
  await page.reload();
  await page.getByText('"dark"').waitFor();

  await page.getByRole('button', { name: 'Edit …' }).click();
  const edited = page.getByRole('dialog', { name: 'Edit the item' });
  await edited.getByLabel('Value').fill('{ "theme": "sepia" }');
  await edited.getByRole('button', { name: 'Save' }).click();
  // The editor has the word as well.
  await edited.waitFor({ state: 'hidden' });
  await page.getByText('"sepia"').waitFor();
  expect(await client.store.getItem(namespace, '#1?')).toMatchObject({ value: { theme: 'sepia' } });
  await page.getByRole('button', { name: 'Delete …' }).last().click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page
    .getByText('No item is like that')
    .or(page.getByText(/^\d+ item/))
    .first()
    .waitFor();
  expect((await client.store.searchItems(namespace)).items.map(({ key }) => key)).toEqual(['2']);
});

it('a new item in the store overwrites none of its name', async () => {
  const label = randomUUID();
  await client.store.putItem([label], 'taken', { by: 'a graph' });
  const { page } = await pages.open(`${ofDeployment}/store`);
  await page.getByRole('button', { name: 'New item' }).click();
  const made = page.getByRole('dialog', { name: 'New item' });
  await made.getByLabel('Namespace').fill(label);
  await made.getByLabel('Key').fill('taken');
  await made.getByRole('button', { name: 'Create' }).click();
  await made.getByText('there is an item of that name already').waitFor();
  await made.getByLabel('Key').fill('free');
  await made.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('heading', { name: 'free', level: 3 }).waitFor();
  expect(await client.store.getItem([label], 'taken')).toMatchObject({ value: { by: 'a graph' } });
  expect(await client.store.getItem([label], 'free')).toMatchObject({ value: {} });
});

it('the page of a run shows that its webhook failed, and sends it again', async () => {
  const path = `/${randomUUID()}`;
  receiver.answer(path, { status: 400 });
  const { thread_id: thread } = await client.threads.create();
  const { run_id: run } = await client.runs.create(thread, 'echo', { input: {}, webhook: receiver.url(path) });
  await client.runs.join(thread, run);
  const { page } = await pages.open(`${ofDeployment}/threads/${thread}/runs/${run}`);
  const webhooks = page.getByRole('region', { name: 'Webhooks' });
  await webhooks.getByText('HTTP 400').waitFor();
  await webhooks.getByRole('button', { name: `Send again to ${receiver.url(path)}` }).click();
  await webhooks.getByText('taken with 204').waitFor();
  await webhooks.getByText('✓ delivered').waitFor();
  expect(await receiver.received(path, 2)).toHaveLength(2);
});
