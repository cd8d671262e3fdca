import { randomUUID } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, inject, it } from 'vitest';
import { newVisitor, startBrowser } from '../../harness/browser.ts';
import { AuthorizingProgram } from './authorizing-client.ts';

const { url, apiKey, deploymentUrl } = inject('platform');
const WORKSPACE_USER = '5a7d6f2e-0000-4000-8000-000000000013';
const MCP = new URL(`${deploymentUrl}/mcp`);

/** A client with its transport. Neither is given anything but the address and its program. */
interface Connection {
  connect(): Promise<void>;
  /** Takes the answer of the person. */
  finish(answer: URLSearchParams): Promise<void>;
  call(name: string, args: Record<string, unknown>): Promise<unknown>;
  close(): Promise<void>;
}

const INFO = { name: 'tests', version: '1.0.0' };

function openNew(authProvider: AuthorizingProgram): Connection {
  const client = new Client(INFO, { versionNegotiation: { mode: 'auto' } });
  const transport = new StreamableHTTPClientTransport(MCP, { authProvider });
  return {
    connect: () => client.connect(transport),
    finish: (answer) => transport.finishAuth(answer),
    call: async (name, args) => (await client.callTool({ name, arguments: args })).structuredContent,
    close: () => client.close(),
  };
}

function openOld(authProvider: AuthorizingProgram): Connection {
  const client = new OldClient(INFO);
  const transport = new OldTransport(MCP, { authProvider: authProvider as never });
  return {
    connect: () => client.connect(transport as never),
    finish: (answer) => transport.finishAuth(answer.get('code')!),
    call: async (name, args) => (await client.callTool({ name, arguments: args })).structuredContent,
    close: () => client.close(),
  };
}

let browser: Browser;
let page: Page;
beforeAll(async () => {
  browser = await startBrowser();
  page = await (await newVisitor(browser)).newPage();
  await signUp(page);
});
afterAll(() => browser?.close());

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

/** Makes a new member of the workspace, who is signed in in this browser. */
async function signUp(page: Page): Promise<void> {
  const ask = async (path: string, init: RequestInit = {}) => {
    const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
    return (await fetch(url + path, { ...init, headers })).json();
  };
  const [workspace] = (await ask('/api/v1/workspaces')) as { id: string }[];
  const invited = (await ask('/api/v1/orgs/current/members', {
    method: 'POST',
    body: JSON.stringify({
      email: `${randomUUID()}@example.com`,
      workspace_ids: [workspace!.id],
      workspace_role_id: WORKSPACE_USER,
    }),
  })) as { invite_link: string };
  const link = new URL(invited.invite_link);
  await page.goto(url + link.pathname + link.search);
  await page.getByLabel('Name', { exact: true }).fill('Mary Shaw');
  await page.getByLabel('Password', { exact: true }).fill('seven grey herons asleep');
  await page.getByRole('button', { name: 'Create an account and accept' }).click();
}

async function startProgram(): Promise<AuthorizingProgram> {
  const program = await AuthorizingProgram.start();
  open.push(program);
  return program;
}

/** Has the person answer on the page to which the program has sent them. */
async function decide(program: AuthorizingProgram, answer: 'Allow' | 'Refuse'): Promise<URLSearchParams> {
  await page.goto(program.asked!.href);
  expect(await page.textContent('h1')).toContain('Let A program use probe?');
  await page.getByRole('button', { name: answer }).click();
  await page.waitForURL(`${program.redirectUrl}?*`);
  return program.answerIn(page.url());
}

it.each([
  ['new', openNew],
  ['old', openOld],
])(
  'an official client of the %s generation that knows an address alone gets there by asking a person',
  async (_generation, connectTo) => {
    const program = await startProgram();
    const first = connectTo(program);
    await expect(first.connect()).rejects.toThrow('Unauthorized');
    expect(program.client).toMatchObject({ client_id: expect.stringMatching(/^mcp_/) });
    expect(Object.fromEntries(program.asked!.searchParams)).toMatchObject({ resource: MCP.href, scope: 'mcp' });
    await first.finish(await decide(program, 'Allow'));
    expect(program.granted).toMatchObject({ token_type: 'Bearer', refresh_token: expect.any(String) });

    const second = connectTo(program);
    open.push(second);
    await second.connect();
    const echoed = { messages: [{}, { content: 'echo: hi' }] };
    expect(await second.call('echo', { messages: 'hi' })).toMatchObject(echoed);

    const { refresh_token } = program.granted!;
    program.granted = { ...program.granted!, access_token: 'no more' };
    expect(await second.call('echo', { messages: 'hi' })).toMatchObject(echoed);
    expect(program.granted.refresh_token).not.toBe(refresh_token);
  },
);

it('a client whose person refuses learns that, and gets nothing', async () => {
  const program = await startProgram();
  const connection = openNew(program);
  await expect(connection.connect()).rejects.toThrow('Unauthorized');
  const answer = await decide(program, 'Refuse');
  expect(answer.get('error')).toBe('access_denied');
  await expect(connection.finish(answer)).rejects.toThrow();
  expect(program.granted).toBeUndefined();
});
