import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, it, onTestFinished } from 'vitest';
import { newVisitor, startBrowser } from '../harness/browser.ts';
import { newClient } from '../harness/client.ts';
import { type HeldRequests, holdRequests } from '../harness/held-requests.ts';
import { type ServedPage, servePage } from '../pages/use-stream/serve-page.ts';

const client = newClient();
let browser: Browser;
let served: ServedPage;
beforeAll(async () => {
  const { deploymentUrl: apiUrl, apiKey } = inject('platform');
  [browser, served] = await Promise.all([startBrowser(), servePage({ apiUrl, apiKey })]);
});
afterAll(async () => {
  await browser?.close();
  await served?.close();
});

/** Opens a new conversation with an assistant, and what a person does and sees there. */
async function openConversation(assistant = 'page') {
  const context = await newVisitor(browser, { javaScriptEnabled: true });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  await page.goto(served.addressOf(assistant));
  return {
    page,
    async enter(label: string, text: string) {
      await page.getByLabel(label, { exact: true }).fill(text);
      await page.getByLabel(label, { exact: true }).press('Enter');
    },
    /** Resolves when the last message is this one. */
    sees: (text: string) =>
      page
        .locator('ol > li')
        .last()
        .and(page.getByText(text, { exact: true }))
        .waitFor(),
    isDone: () => page.locator('main[aria-busy=false]').waitFor(),
    messages: () => page.locator('ol > li').allTextContents(),
    state: async () => JSON.parse((await page.getByLabel('State').textContent()) ?? ''),
  };
}

async function holdText(): Promise<HeldRequests> {
  const held = await holdRequests();
  onTestFinished(() => held.close());
  return held;
}

it('useStream shows a text while the model writes it, and the state of the thread', async () => {
  const held = await holdText();
  const { page, enter, sees, isDone, messages, state } = await openConversation();
  await enter('Message', 'good day');
  await sees('ai: You said good day.');
  await isDone();
  await enter('Message', `pause ${held.url}`);
  await sees('ai: Before ');
  expect(await page.locator('main').getAttribute('aria-busy')).toBe('true');
  held.release();
  await sees('ai: Before and after.');
  await isDone();
  expect(await messages()).toEqual([
    'human: good day',
    'ai: You said good day.',
    `human: pause ${held.url}`,
    'ai: Before and after.',
  ]);
  expect(await state()).toMatchObject({ notes: { heard: 2 } });
});

it('a page with useStream that is loaded again in the middle of a run shows what came before, and goes on', async () => {
  const held = await holdText();
  const { page, enter, sees, isDone, messages, state } = await openConversation();
  await enter('Message', 'good day');
  await sees('ai: You said good day.');
  await isDone();
  await enter('Message', `pause ${held.url}`);
  await sees('ai: Before ');
  await page.reload();
  await sees('ai: Before ');
  const before = ['human: good day', 'ai: You said good day.', `human: pause ${held.url}`];
  expect(await messages()).toEqual([...before, 'ai: Before ']);
  held.release();
  await sees('ai: Before and after.');
  await isDone();
  expect(await messages()).toEqual([...before, 'ai: Before and after.']);
  expect(await state()).toMatchObject({ notes: { heard: 2 } });
});

it('useStream shows an interrupt, also after the page was loaded again, and answers it', async () => {
  const { page, enter, state } = await openConversation();
  await enter('Message', 'ask');
  await page.getByLabel('Keep nothing?').waitFor();
  await page.reload();
  await page.getByLabel('Keep nothing?').waitFor();
  await enter('Keep nothing?', 'green');
  await page.getByLabel('State').filter({ hasText: 'notes' }).waitFor();
  expect(await state()).toMatchObject({ colour: 'green', notes: { heard: 1 } });
  expect(await page.getByLabel('Keep nothing?').count()).toBe(0);
});

it('useStream shows the calls of tools and their results', async () => {
  const { page, enter, sees } = await openConversation('weather');
  await enter('Message', 'Oslo, please');
  await sees('ai: It rains in Oslo.');
  expect(await page.locator('ul > li').allTextContents()).toEqual([
    'weather({"city":"Oslo"}) finished: "It rains in Oslo."',
  ]);
});

it('useStream stops a run, and the conversation goes on with the next message', async () => {
  const held = await holdText();
  const { page, enter, sees, isDone } = await openConversation();
  await enter('Message', `pause ${held.url}`);
  await sees('ai: Before ');
  await page.getByRole('button', { name: 'Stop' }).click();
  await isDone();
  await enter('Message', 'good day');
  // The hook keeps what was written before it, behind the messages of the state.
  await page.getByText('ai: You said good day.').waitFor();
  await isDone();
  const runs = await client.runs.list(new URL(page.url()).searchParams.get('thread')!);
  expect(runs.map(({ status }) => status)).toEqual(['success', 'interrupted']);
});

it('useStream shows why a run failed', async () => {
  const { page, enter } = await openConversation('boom');
  await enter('Message', 'hi');
  await page.getByRole('alert').waitFor();
  expect(await page.getByRole('alert').textContent()).toContain('cannot reach');
});
