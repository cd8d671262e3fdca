import { randomUUID } from 'node:crypto';
import { RemoteGraph } from '@langchain/langgraph/remote';
import { Client } from '@langchain/langgraph-sdk';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { newVisitor, startBrowser } from '../harness/browser.ts';
import { collectEvents } from '../harness/client.ts';
import { type ServedPage, servePage } from '../pages/use-stream/serve-page.ts';

/** The platform's address: at its root stands the deployment of the project that it was started with. */
const { url, apiKey } = inject('platform');
const input = { messages: [{ role: 'user', content: 'hello' }] };
/** Uses the address that clients have as their default, with the key of another platform from its environment. */
const client = new Client({ apiUrl: url.replace('127.0.0.1', 'localhost'), apiKey: 'lsv2_pt_of_another_platform' });

it('a client that knows no more than the address runs an agent, and the platform’s API still needs the key', async () => {
  expect(await (await fetch(`${url}/ok`)).json()).toMatchObject({ ok: true });
  expect(await (await fetch(`${url}/info`)).json()).toHaveProperty('version');
  const thread = await client.threads.create();
  const events = await collectEvents(client.runs.stream(thread.thread_id, 'echo', { input, streamMode: 'values' }));
  expect(events.at(-1)?.event).toBe('values');
  const graph = new RemoteGraph({ graphId: 'echo', url, apiKey: '' });
  expect(await graph.invoke(input)).toHaveProperty('messages');
  for (const path of ['/v2/deployments', '/api/v1/organizations/current/info'])
    expect([path, (await fetch(url + path)).status]).toEqual([path, 401]);
  expect((await fetch(`${url}/v2/deployments`, { headers: { 'x-api-key': apiKey } })).status).toBe(200);
});

it('an MCP client and an A2A client that know no more than the address are answered', async () => {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const post = (path: string, body: object) =>
    fetch(url + path, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }) });
  const tools = await post('/mcp', { method: 'tools/list', params: {} });
  expect([tools.status, await tools.text()]).toEqual([200, expect.stringContaining('echo')]);
  const [assistant] = await client.assistants.search({ graphId: 'echo', metadata: { created_by: 'system' } });
  const parts = [{ kind: 'text', text: 'hello' }];
  const message = { role: 'user', kind: 'message', messageId: randomUUID(), parts };
  const sent = await post(`/a2a/${assistant?.assistant_id}`, { method: 'message/send', params: { message } });
  expect([sent.status, await sent.json()]).toEqual([200, expect.objectContaining({ result: expect.anything() })]);
});

describe('in a browser,', () => {
  /** The name of a page that its owner has lead to this machine. */
  const rebound = `http://rebound.example:${new URL(url).port}`;
  const switches = [
    '--host-resolver-rules=MAP rebound.example 127.0.0.1',
    // Newer browsers ask the person first whether a site may reach this machine. Others do not, and people say yes.
    '--disable-features=LocalNetworkAccessChecks',
  ];
  let browser: Browser;
  let served: ServedPage;
  beforeAll(async () => {
    [browser, served] = await Promise.all([startBrowser(switches), servePage({ apiUrl: url, apiKey: '' })]);
  });
  afterAll(async () => {
    await browser?.close();
    await served?.close();
  });

  /** Opens an empty page of an origin. */
  async function openPageOf(origin: string): Promise<Page> {
    const context = await newVisitor(browser, { javaScriptEnabled: true });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    await page.route(`${origin}/`, (route) => route.fulfill({ contentType: 'text/html', body: '<!doctype html>' }));
    await page.goto(`${origin}/`);
    return page;
  }

  /** Returns the status that the page sees, or `unreadable`. */
  const statusSeenBy = (page: Page, path: string, init: RequestInit = {}) =>
    page.evaluate(
      ([address, options]) =>
        fetch(address, options).then(
          (answer) => answer.status,
          () => 'unreadable',
        ),
      [url + path, init] as const,
    );

  const JSON_POST: RequestInit = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };

  it('a page of this machine with useStream holds a conversation', async () => {
    const context = await newVisitor(browser, { javaScriptEnabled: true });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    await page.goto(served.addressOf('page'));
    await page.getByLabel('Message', { exact: true }).fill('good day');
    await page.getByLabel('Message', { exact: true }).press('Enter');
    await page.getByText('ai: You said good day.', { exact: true }).waitFor();
  });

  it('pages of a server under development make the requests of chat pages and inboxes, an empty key among them', async () => {
    const page = await openPageOf('http://localhost:3000');
    expect(await statusSeenBy(page, '/info')).toBe(200);
    expect(await statusSeenBy(page, '/threads/search', JSON_POST)).toBe(200);
    const headers = { 'content-type': 'application/json', 'x-api-key': '', 'x-auth-scheme': 'langsmith' };
    expect(await statusSeenBy(page, '/threads/search', { ...JSON_POST, headers })).toBe(200);
  });

  it('Studio makes its requests', async () => {
    const page = await openPageOf('https://smith.langchain.com');
    const headers = { 'content-type': 'application/json', 'x-auth-scheme': 'langsmith' };
    expect(await statusSeenBy(page, '/info', { headers })).toBe(200);
    expect(await statusSeenBy(page, '/assistants/search', { ...JSON_POST, headers })).toBe(200);
    const run = { assistant_id: 'echo', input, stream_mode: ['values'] };
    const body = JSON.stringify(run);
    expect(await statusSeenBy(page, '/runs/stream', { method: 'POST', headers, body })).toBe(200);
  });

  it.each([
    ['another site', 'https://evil.example'],
    ['a plain page of another site', 'http://evil.example'],
    ['a page whose name leads to this machine', rebound],
  ])('%s neither reads nor starts anything', async (_, origin) => {
    const page = await openPageOf(origin);
    const threadId = randomUUID();
    const body = JSON.stringify({ thread_id: threadId, if_not_exists: 'create', assistant_id: 'echo', input });
    for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded']) {
      const init: RequestInit = { method: 'POST', headers: { 'content-type': type }, body };
      for (const mode of ['cors', 'no-cors'] as const)
        expect(await statusSeenBy(page, '/threads', { ...init, mode })).not.toBe(200);
    }
    expect(await statusSeenBy(page, '/info')).not.toBe(200);
    // As its own page, where its name leads here.
    const own = await page.evaluate(
      (text) =>
        fetch('/threads', { method: 'POST', headers: { 'content-type': 'application/json' }, body: text }).then(
          (answer) => answer.status,
          () => 'unreachable',
        ),
      body,
    );
    expect(own).not.toBe(200);
    await page.evaluate(
      ([address, text]) => {
        document.body.innerHTML = `<form method="post" enctype="text/plain" target="frame"><input></form><iframe name="frame"></iframe>`;
        const form = document.querySelector('form') as HTMLFormElement;
        form.action = address;
        (form.firstElementChild as HTMLInputElement).name = text.replace(/}$/, ',"x":"');
        (form.firstElementChild as HTMLInputElement).value = '"}';
        return new Promise((resolve) => {
          (document.querySelector('iframe') as HTMLIFrameElement).onload = resolve;
          form.submit();
        });
      },
      [`${url}/threads`, body] as const,
    );
    const socket = await page.evaluate(
      (address) =>
        new Promise((resolve) => {
          const opened = new WebSocket(address);
          opened.onopen = () => resolve('open');
          opened.onerror = () => resolve('refused');
        }).catch(() => 'refused'),
      `${url.replace('http', 'ws')}/threads/${threadId}/stream/events`,
    );
    expect(socket).toBe('refused');
    await expect(client.threads.get(threadId)).rejects.toMatchObject({ status: 404 });
  });
});
