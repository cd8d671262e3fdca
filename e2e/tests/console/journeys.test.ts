import { randomUUID } from 'node:crypto';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { startBrowser } from '../../harness/browser.ts';
import { newClient } from '../../harness/client.ts';
import { type ConsolePage, makePerson, openPages, type Pages, type Person } from '../../harness/console.ts';

const { url, deploymentId, consoleUrl } = inject('platform');
const client = newClient();
let browser: Browser;
let editor: Person;
/** The pages of a person who may run agents. */
let pages: Pages;

beforeAll(async () => {
  browser = await startBrowser();
  editor = await makePerson('Editor');
  pages = await openPages(browser, editor);
});
afterAll(() => browser?.close());

const open = (path: string) => pages.open(path);

const pageOfRun = (thread: string, run: string) => `/deployments/${deploymentId}/threads/${thread}/runs/${run}`;

/** Drops that a thread was deleted while the inbox looked at it: other tests make some, and delete them. */
function dropThreadsOfOthers({ faults }: ConsolePage, own: readonly string[]): void {
  const isOfOther = (fault: string) =>
    /\b404\b.*\/threads\//.test(fault) && !own.some((thread) => fault.includes(thread));
  faults.splice(0, faults.length, ...faults.filter((fault) => !isOfOther(fault)));
}

/** Starts a run that takes steps, one each `stepMs`. */
async function startSlowRun(steps: number, stepMs: number, name: string = randomUUID()) {
  const { thread_id: thread } = await client.threads.create();
  const { run_id: run } = await client.runs.create(thread, 'slow', { input: { steps, stepMs, name } });
  return { thread, run };
}

async function askApproval(request: string): Promise<string> {
  const { thread_id: thread } = await client.threads.create();
  await client.runs.wait(thread, 'approval', { input: { request } });
  return thread;
}

describe('chat', () => {
  it('streams an answer to the first message, and is there again after a new visit', async () => {
    const { page, origins } = await open(`/?deployment=${deploymentId}`);
    await page.getByLabel('Assistant').selectOption({ label: 'chat' });
    await page.getByRole('textbox', { name: 'Message' }).fill('hello');
    await page.keyboard.press('Enter');
    await page.getByText('The quick brown fox jumps over the lazy dog.', { exact: true }).waitFor();
    await page.waitForURL(/thread=/);
    await page.reload();
    await page.getByText('The quick brown fox jumps over the lazy dog.', { exact: true }).waitFor();
    expect([...origins]).toEqual([consoleUrl]);
  });

  it('makes a form of a graph’s schema, and shows what came of it', async () => {
    const { page } = await open(`/?deployment=${deploymentId}`);
    await page.getByLabel('Assistant').selectOption({ label: 'family' });
    const text = randomUUID();
    await page.getByLabel(/^text/).fill(text);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText(text).last().waitFor();
    await page.waitForURL(/thread=/);
  });
});

describe('the inbox', () => {
  it('is answered by the keyboard alone, and the run goes on', async () => {
    const [one, other] = [randomUUID(), randomUUID()];
    const [first, second] = [await askApproval(one), await askApproval(other)];
    const inbox = await open(`/inbox?deployment=${deploymentId}&thread=${first}`);
    const { page } = inbox;
    await page.getByText(`May I ${one}?`).last().waitFor();
    const answer = page.locator('[data-answer] textarea');
    await answer.focus();
    await page.keyboard.type('yes');
    await page.keyboard.press('Control+Enter');
    await expect.poll(async () => (await client.threads.get(first)).status, { timeout: 10_000 }).toBe('idle');
    expect((await client.threads.getState<{ log: string[] }>(first)).values.log).toContain(`did ${one}`);
    // The next waiting thread opens without a click.
    await page.waitForURL((url) => url.searchParams.get('thread') !== first);
    await page.getByRole('list', { name: 'Waiting threads' }).getByText(`May I ${other}?`).waitFor();
    await page.close();
    dropThreadsOfOthers(inbox, [first, second]);
    await client.threads.delete(second);
  });

  it('lets one of two people answer, and tells the other', async () => {
    const request = randomUUID();
    const thread = await askApproval(request);
    const theirs = await openPages(browser, await makePerson('Editor'));
    onTestFinished(() => theirs.context.close());
    const path = `/inbox?deployment=${deploymentId}&thread=${thread}`;
    const windows = [await open(path), await theirs.open(path)];
    for (const { page } of windows) await page.locator('[data-answer] textarea').fill('yes');
    const told = ({ page }: ConsolePage) => page.getByText(/was answered (by somebody else )?meanwhile/).first();
    await Promise.all(
      windows.map(({ page }) => page.locator('[data-answer]').getByRole('button', { name: 'Answer' }).click()),
    );
    // The one goes on to what waits next, and the other is told.
    const wentOn = (url: URL) => url.searchParams.get('thread') !== thread;
    const outcomes = await Promise.all(
      windows.map((window) =>
        Promise.race([
          window.page.waitForURL(wentOn).then(() => 'went on'),
          told(window)
            .waitFor()
            .then(() => 'was told'),
        ]),
      ),
    );
    expect(outcomes.sort()).toEqual(['was told', 'went on']);
    expect((await client.runs.list(thread)).length).toBe(2);
    for (const window of windows) {
      await window.page.close();
      dropThreadsOfOthers(window, [thread]);
    }
  });
});

describe('runs', () => {
  it('come into the list as they are made, and one that is opened has its timeline', async () => {
    const { page } = await open('/runs?graph=approval');
    await page.getByRole('table', { name: 'Runs' }).waitFor();
    const thread = await askApproval(randomUUID());
    const row = page.getByRole('row').filter({ hasText: thread.slice(-8) });
    await row.waitFor();
    await row.getByRole('link').first().click();
    const timeline = page.getByRole('tree', { name: 'Timeline' });
    await timeline.getByText('prepare', { exact: true }).waitFor();
    await page.goBack();
    await row.waitFor();
    expect(new URL(page.url()).searchParams.get('graph')).toContain('approval');
  });

  it('are followed live, through a break of the network, with each event once', async () => {
    const { thread, run } = await startSlowRun(12, 500);
    const { page, faults } = await open(pageOfRun(thread, run));
    const entries = page.getByRole('tree', { name: 'Timeline' }).getByRole('treeitem');
    await entries.filter({ hasText: 'step' }).nth(2).waitFor();
    await pages.context.setOffline(true);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    await pages.context.setOffline(false);
    await page.getByText('success').first().waitFor();
    // The browser itself reports what it could not ask for meanwhile.
    faults.length = 0;
    const nodes = () => entries.filter({ has: page.getByText('step', { exact: true }) }).count();
    await expect.poll(nodes, { timeout: 10_000 }).toBe(12);
    const live = (await entries.allInnerTexts()).map(withoutTimes);
    await page.reload();
    await entries.first().waitFor();
    await expect.poll(async () => (await entries.allInnerTexts()).map(withoutTimes)).toEqual(live);
  });

  it('can be cancelled, several at once', async () => {
    const runs = [await startSlowRun(200, 200), await startSlowRun(200, 200)];
    const { page } = await open('/runs?graph=slow&status=running,pending');
    for (const { thread } of runs)
      await page
        .getByRole('row')
        .filter({ hasText: thread.slice(-8) })
        .getByRole('checkbox')
        .check();
    await page.getByRole('button', { name: /^Cancel/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel them' }).click();
    for (const { thread, run } of runs)
      await expect
        .poll(async () => (await client.runs.get(thread, run)).status, { timeout: 15_000 })
        .toBe('interrupted');
  });
});

it('more windows than a browser has connections all work, with one live stream', async () => {
  const thread = await askApproval(randomUUID());
  const windows: ConsolePage[] = [];
  for (let count = 0; count < 8; count++) windows.push(await open('/runs?graph=approval'));
  const last = windows.at(-1)!.page;
  await last.getByRole('table', { name: 'Runs' }).waitFor();
  await last.goto(`${pages.address}/deployments/${deploymentId}/threads/${thread}`);
  await last.getByRole('heading', { level: 1, name: /^Thread/ }).waitFor();
  const made = await askApproval(randomUUID());
  for (const { page } of windows.slice(0, -1))
    await page
      .getByRole('row')
      .filter({ hasText: made.slice(-8) })
      .waitFor();
});

it('a log line of a run stands in the log of its deployment', async () => {
  const name = randomUUID();
  // Other tests print many lines at the same time, which scroll by.
  const { page } = await open(`/deployments/${deploymentId}/logs?query=${name}`);
  await page.getByText(/^Live/).waitFor();
  await startSlowRun(1, 10, name);
  await page.getByRole('log').getByText(`${name}: 0 left`).waitFor();
});

it('a button that a person may not use says which permission it needs', async () => {
  const viewer = await openPages(browser, await makePerson('Viewer'));
  onTestFinished(() => viewer.context.close());
  const { page } = await viewer.open(`/deployments/${deploymentId}`);
  const button = page.getByRole('button', { name: /^Delete/ });
  expect(await button.getAttribute('aria-disabled')).toBe('true');
  await page
    .getByText('You need the permission deployments:delete in this workspace')
    .first()
    .waitFor({ state: 'attached' });
  await button.click({ force: true });
  expect(await page.getByRole('dialog').count()).toBe(0);
});

it('an administrator sees why a person may do something, as the API says it', async () => {
  const person = await makePerson('Viewer');
  const administrator = await openPages(browser, await makePerson('Admin', 'Admin'));
  onTestFinished(() => administrator.context.close());
  const { page } = await administrator.open('/organization');
  await page.getByLabel('Name or address').fill(person.email);
  await page.keyboard.press('Enter');
  const row = page.getByRole('row', { name: person.email });
  await row.getByRole('link', { name: 'Access of Some Viewer' }).click();
  await page.getByLabel('May do').selectOption('runs:create');
  await page.getByText('may not').waitFor();
  await page.getByText(/The role in the workspace is .*Viewer/).waitFor();
  await page.getByLabel('May do').selectOption('runs:read');
  await page.getByText('Some Viewer may runs:read').waitFor();
});

it('a key is made, shown once, works, and is refused once it was revoked', async () => {
  const administrator = await openPages(browser, await makePerson('Admin', 'Admin'));
  onTestFinished(() => administrator.context.close());
  const { page } = await administrator.open('/organization/keys');
  const name = randomUUID();
  await page.getByRole('button', { name: 'New service key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Description').fill(name);
  await dialog.getByRole('button', { name: /^(Make|Create)/ }).click();
  const key = await dialog.locator('textarea[readonly]').inputValue();
  expect(key).toMatch(/^lsv2_sk_/);
  const ask = () => fetch(`${url}/v2/deployments`, { headers: { 'x-api-key': key } });
  expect((await ask()).status).toBe(200);
  await dialog.getByRole('button', { name: 'Done' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(await page.content()).not.toContain(key);
  await page.getByRole('button', { name: `Revoke ${name}` }).click();
  const question = page.getByRole('alertdialog');
  await question.getByRole('textbox').fill(key.slice(-4));
  await question.getByRole('button', { name: 'Revoke' }).click();
  await question.waitFor({ state: 'detached' });
  await expect.poll(async () => (await ask()).status, { timeout: 10_000 }).toBe(401);
});

it('two checkpoints show what changed between them, and which node wrote it', async () => {
  const thread = await askApproval('look');
  await client.runs.wait(thread, 'approval', { command: { resume: 'yes' } });
  const { page } = await open(`/deployments/${deploymentId}/threads/${thread}`);
  await page.getByRole('link', { name: 'What changed' }).click();
  const changes = page.getByRole('region', { name: 'Differences' });
  await changes.getByText('did look').waitFor();
  await changes.getByText('written by act').waitFor();
  await page.getByRole('button', { name: 'Step before' }).click();
  await changes.getByText('written by ask').first().waitFor();
});

/** Returns a text of a page without what differs between two looks at it. */
function withoutTimes(text: string): string {
  return text.replace(/[+\d.,]+ ?(ms|s|min)\b/g, '').replace(/\s+/g, ' ');
}
