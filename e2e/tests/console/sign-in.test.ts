import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, it, onTestFinished } from 'vitest';
import { startBrowser } from '../../harness/browser.ts';
import { makePerson, newPerson, openWindow, signIn } from '../../harness/console.ts';

const { url, consoleUrl, consoleSignInUrl, hostUrl } = inject('platform');
let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());

async function newBrowser() {
  const context = await newPerson(browser);
  onTestFinished(() => context.close());
  return context;
}

const names = (cookies: { name: string; domain: string }[]) =>
  cookies.map(({ name, domain }) => `${domain} ${name}`).sort();

it('the link of the start signs one browser in, once, and its page runs without a fault', async () => {
  const context = await newBrowser();
  const { page, faults, origins } = await openWindow(context);
  await page.goto(consoleSignInUrl);
  await page.getByRole('heading', { level: 1, name: 'Chat' }).waitFor();
  expect(new URL(page.url()).origin).toBe(consoleUrl);
  expect(faults).toEqual([]);
  // The platform's host is where people sign in.
  expect([...origins].sort()).toEqual([consoleUrl, url].sort());
  expect(names(await context.cookies())).toEqual(['127.0.0.1 runyard_session', 'console.localhost runyard_console']);
  for (const cookie of await context.cookies()) expect(cookie).toMatchObject({ httpOnly: true });
  const other = await openWindow(await newBrowser());
  await other.page.goto(consoleSignInUrl);
  await other.page.getByText('has been used').first().waitFor();
});

it('a person signs in at the platform, gets to the page they asked for, and signs out of both', async () => {
  const person = await makePerson('Viewer');
  const context = await newBrowser();
  const window = await openWindow(context);
  await signIn(window, person, '/?from=a-link');
  const { page } = window;
  const atWorkspace = page.url();
  await page.getByRole('button', { name: /Some Viewer/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
  expect(names(await context.cookies())).not.toContain('console.localhost runyard_console');
  // The platform's own pages have forgotten the person too.
  expect((await context.request.get(`${url}/auth/public`)).status()).toBe(401);
  await page.goto(atWorkspace);
  await page.getByLabel('Email address').waitFor();
});

it('a page of a project gets nothing of the console, wherever it is', async () => {
  const person = await makePerson('Editor');
  const context = await newBrowser();
  await signIn(await openWindow(context), person);
  for (const home of [url, hostUrl]) {
    const { page } = await openWindow(context);
    // The project's own page, as the gateway shows it.
    await page.goto(`${home}/docs`);
    const seen = await page.evaluate(async (origin) => {
      const ask = (path: string, init: RequestInit) =>
        fetch(origin + path, { credentials: 'include', ...init }).then(
          (answer) => answer.status,
          () => 'unreadable',
        );
      return [
        await ask('/platform/api/v1/workspaces', {}),
        await ask('/live', { method: 'POST', body: '{"runs":[],"threads":[]}' }),
      ];
    }, consoleUrl);
    expect(seen).toEqual(['unreadable', 'unreadable']);
  }
});
