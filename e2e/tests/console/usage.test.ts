import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Client } from '@langchain/langgraph-sdk';
import type { Usage } from '@runyard/contracts';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { startBrowser } from '../../harness/browser.ts';
import { askAsAdministrator, makePerson, openPages, type Pages } from '../../harness/console.ts';

const { deploymentId, deploymentUrl } = inject('platform');
let browser: Browser;
let pages: Pages;
beforeAll(async () => {
  browser = await startBrowser();
  pages = await openPages(browser, await makePerson('Admin', 'Admin'));
});
afterAll(() => browser?.close());

/** Calls a model twice and a tool once. */
const WEATHER = { messages: [{ role: 'user', content: 'What is the weather in Oslo?' }] };

it('shows what a key has used, as the API says it, and gives it as a file', async () => {
  const description = randomUUID();
  const key = await askAsAdministrator<{ id: string; key: string }>('POST', '/api/v1/orgs/current/service-keys', {
    description,
  });
  const client = new Client({ apiUrl: deploymentUrl, apiKey: key.key });
  const { thread_id: thread } = await client.threads.create();
  for (const place of [thread, null]) await client.runs.wait(place as string, 'weather', { input: WEATHER });
  const body = { start_time: new Date(Date.now() - 60_000).toISOString(), step: 'all', key_ids: [key.id] };
  const total = async () => (await askAsAdministrator<Usage>('POST', '/v2/runs/usage', body)).total;
  await expect.poll(total, { timeout: 10_000 }).toMatchObject({ runs: 2, model_calls: 4, tool_calls: 2 });

  const { page } = await pages.open(`/usage?range=today&by=key&deployment=${deploymentId}`);
  const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: description }) });
  await row.waitFor();
  expect((await row.getByRole('cell').allTextContents()).slice(0, 3).map(numberIn)).toEqual([2, 4, 2]);
  const file = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download as CSV' }).click();
  const text = await readFile(await (await file).path(), 'utf8');
  expect(text).toMatch(new RegExp(`^[^,]*,${key.id},2,4,2,`, 'm'));

  const [run] = await client.runs.list(thread);
  const { page: runPage } = await pages.open(`/deployments/${deploymentId}/threads/${thread}/runs/${run!.run_id}`);
  await runPage.getByText(/^Usage:/).click();
  await runPage.getByRole('table', { name: 'Models' }).getByRole('rowheader', { name: 'WeatherModel' }).waitFor();
  await runPage.getByRole('table', { name: 'Tools' }).getByRole('rowheader', { name: 'weather' }).waitFor();
});

/** Cells say what they are on narrow windows, too. */
function numberIn(text: string): number {
  return Number(text.replace(/\D/g, ''));
}
