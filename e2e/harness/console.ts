import { randomUUID } from 'node:crypto';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect, inject, onTestFinished } from 'vitest';
import { newVisitor } from './browser.ts';

/** A page of the console, with all that a browser reports of it. */
export interface ConsolePage {
  page: Page;
  /** Errors of scripts, refusals of the page's policy, failed requests, each with its address. */
  faults: string[];
  /** Origins that the page has asked for anything. */
  origins: Set<string>;
}

/** Opens a window of a browser. Its faults are gathered: a test says that there are none. */
export async function openWindow(context: BrowserContext): Promise<ConsolePage> {
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const faults: string[] = [];
  const origins = new Set<string>();
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(`${message.text()} ${message.location().url}`);
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('request', (request) => origins.add(new URL(request.url()).origin));
  return { page, faults, origins };
}

/** Opens a browser of somebody who has not signed in. */
export function newPerson(browser: Browser, viewport = { width: 1280, height: 800 }): Promise<BrowserContext> {
  return newVisitor(browser, { javaScriptEnabled: true, viewport });
}

/** A person with an account and a password. */
export interface Person {
  email: string;
  password: string;
}

/**
 * Makes a member of the workspace by the API, as an administrator does.
 *
 * @param role its name in the workspace
 * @param organizationRole its name in the organization
 */
export async function makePerson(
  role: 'Admin' | 'Editor' | 'User' | 'Viewer',
  organizationRole: 'Admin' | 'User' = 'User',
): Promise<Person> {
  const person = { email: `${randomUUID()}@people.example`, password: 'seven grey herons asleep' };
  const roles = await askAsAdministrator<{ id: string; display_name: string; access_scope: string }[]>(
    'GET',
    '/api/v1/orgs/current/roles',
  );
  const idOf = (name: string, scope: string) =>
    roles.find(({ display_name, access_scope }) => display_name.endsWith(name) && access_scope === scope)!.id;
  const [workspace] = await askAsAdministrator<{ id: string }[]>('GET', '/api/v1/workspaces');
  await askAsAdministrator('POST', '/api/v1/orgs/current/members/basic/batch', [
    {
      ...person,
      full_name: `Some ${role}`,
      role_id: idOf(organizationRole, 'organization'),
      workspace_ids: [workspace!.id],
      workspace_role_id: idOf(role, 'workspace'),
    },
  ]);
  return person;
}

/** Signs a person in on the pages of the platform, to which the console leads. */
export async function signIn({ page }: ConsolePage, { email, password }: Person, path = '/'): Promise<void> {
  await page.goto(inject('platform').consoleUrl + path);
  await page.getByLabel('Email address').fill(email);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Workspace' }).waitFor();
}

/** The pages of the workspace as one person sees them. */
export interface Pages {
  context: BrowserContext;
  /** The address of the workspace, without a slash at its end. */
  address: string;
  /** Opens a page of the workspace in a window of its own. The window has no fault at the end of the test. */
  open(path: string): Promise<ConsolePage>;
}

/** Signs a person in with a browser of their own. */
export async function openPages(browser: Browser, person: Person): Promise<Pages> {
  const context = await newPerson(browser);
  const first = await openWindow(context);
  await signIn(first, person);
  const address = first.page.url().replace(/\/$/, '');
  await first.page.close();
  const open = async (path: string) => {
    const window = await openWindow(context);
    onTestFinished(async ({ task }) => {
      if (task.result?.state === 'fail') await tellPage(window);
      await window.page.close();
      expect(window.faults).toEqual([]);
    });
    await window.page.goto(address + path);
    return window;
  };
  return { context, address, open };
}

/** Tells where a page of a test that failed stood, and what a person saw there. */
async function tellPage({ page, faults }: ConsolePage): Promise<void> {
  const seen = await page.locator('body').ariaSnapshot();
  console.error(`${page.url()}\n${faults.join('\n')}\n${seen.slice(0, 4_000)}`);
}

/** Asks the API with the key of the administrator. */
export async function askAsAdministrator<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
  const { url, apiKey } = inject('platform');
  const answer = await fetch(url + path, {
    method,
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${path} answers ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Answer;
}
