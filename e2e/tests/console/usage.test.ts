import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Client } from '@langchain/langgraph-sdk';
import type { Usage, UsageFigures } from '@runyard/contracts';
import { waitFor } from '@runyard/test-kit';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { startBrowser } from '../../harness/browser.ts';
import { askAsAdministrator, makePerson, openPages } from '../../harness/console.ts';

const { deploymentId, deploymentUrl } = inject('platform');
let browser: Browser;
/** A key, and the threads of the runs that it has made. */
let key: { id: string; key: string; description: string };
let threads: string[];
/** The usage of the key, as the API says it. */
let used: UsageFigures;
beforeAll(async () => {
  browser = await startBrowser();
  const description = randomUUID();
  const path = '/api/v1/orgs/current/service-keys';
  key = { ...(await askAsAdministrator<{ id: string; key: string }>('POST', path, { description })), description };
  const client = new Client({ apiUrl: deploymentUrl, apiKey: key.key });
  threads = [await client.threads.create(), await client.threads.create()].map(({ thread_id: id }) => id);
  // Each calls a model twice, which reports tokens, and a tool once.
  const input = { messages: [{ role: 'user', content: 'What is the weather in Oslo?' }] };
  for (const thread of threads) await client.runs.wait(thread, 'weather', { input });
  const body = { start_time: new Date(Date.now() - 60_000).toISOString(), step: 'all', key_ids: [key.id] };
  used = await waitFor(
    async () => {
      const { total } = await askAsAdministrator<Usage>('POST', '/v2/runs/usage', body);
      return total.runs === 2 && total.model_calls === 4 && total.tool_calls === 2 ? total : undefined;
    },
    { what: 'what the key has used' },
  );
});
afterAll(() => browser?.close());

it('shows what a key has used, also by model, as the API says it, and gives it as a file', async () => {
  expect(used).toMatchObject({ input_tokens: 480, output_tokens: 32, total_tokens: 512, cache_read_tokens: 256 });
  const pages = await openPages(browser, await makePerson('Admin', 'Admin'));
  const { page } = await pages.open(`/usage?range=day&by=key&deployment=${deploymentId}`);
  const { runs, model_calls: calls, tool_calls: tools } = used;
  const tokens = [
    used.input_tokens,
    used.cache_read_tokens,
    used.output_tokens,
    used.reasoning_tokens,
    used.total_tokens,
  ];
  expect(await numbersOf(rowOf(page, key.description))).toEqual([runs, tools, calls, ...tokens]);
  await page.getByRole('img', { name: 'Tokens by hour and key' }).waitFor();

  await page.getByLabel('And by').selectOption('Model');
  const ofModel = rowOf(page, key.description).filter({ hasText: 'WeatherModel' });
  expect((await numbersOf(ofModel)).slice(-6)).toEqual([calls, ...tokens]);
  expect(new URL(page.url()).searchParams.get('and')).toBe('model');

  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download as CSV' }).click();
  const file = sumOfFile(await readFile(await (await download).path(), 'utf8'), key.id);
  expect(file).toEqual(used);
});

it('leads from what a key has used to its runs, of which each shows its part', async () => {
  const pages = await openPages(browser, await makePerson('Admin', 'Admin'));
  const { page } = await pages.open(`/usage?by=key&deployment=${deploymentId}`);
  await rowOf(page, key.description).getByRole('link').click();
  await page.getByRole('heading', { name: 'Runs' }).waitFor();
  const rows = page.getByRole('table', { name: 'Runs' }).getByRole('row').filter({ hasText: 'weather' });
  await expect.poll(() => rows.count()).toBe(2);
  expect((await rows.getByRole('cell', { name: '256', exact: true }).count()) * 256).toBe(used.total_tokens);
  await rows.first().locator('[data-open]').click();
  await page.getByText('Usage: 256 tokens, 2 model calls, 1 tool call').click();
  const model = page.getByRole('table', { name: 'Models' }).getByRole('row').filter({ hasText: 'WeatherModel' });
  expect(await numbersOf(model)).toEqual([2, 0, 240, 128, 16, 6]);
  const tool = page.getByRole('table', { name: 'Tools' }).getByRole('row').filter({ hasText: 'weather' });
  expect(await numbersOf(tool)).toEqual([1, 0]);
});

it('shows keys by their ids to whoever may not know their names', async () => {
  const pages = await openPages(browser, await makePerson('Viewer'));
  const { page } = await pages.open(`/usage?range=week&by=key&and=creator`);
  expect((await numbersOf(rowOf(page, key.id))).at(-1)).toBe(used.total_tokens);
});

/** The row of usage that has a name. */
function rowOf(page: Page, name: string): Locator {
  return page.getByRole('row').filter({ has: page.getByRole('rowheader', { name }) });
}

/** Returns the numbers in the cells of a row. */
async function numbersOf(row: Locator): Promise<number[]> {
  await row.waitFor();
  const texts = await row.getByRole('cell').allTextContents();
  // Cells say what they are on narrow windows, too.
  return texts
    .map((text) => text.replaceAll(/[^\d]/g, ''))
    .flatMap((digits) => (digits === '' ? [] : [Number(digits)]));
}

/** Adds up the lines of a file that are of a key. */
function sumOfFile(text: string, keyId: string): Record<string, number> {
  const [head, ...lines] = text
    .trim()
    .split('\r\n')
    .map((line) => line.split(','));
  const ofKey = lines.filter((cells) => cells[head!.indexOf('key_id')] === keyId);
  const figures = head!.filter((name) => name === 'runs' || /_(tokens|calls)$/.test(name));
  return Object.fromEntries(
    figures.map((name) => [name, ofKey.reduce((sum, cells) => sum + Number(cells[head!.indexOf(name)]), 0)]),
  );
}
