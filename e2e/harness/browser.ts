import { createRequire } from 'node:module';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { findChromium, HOW_TO_INSTALL } from '../../infra/bootstrap/chromium.mjs';

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/**
 * Starts headless Chromium, which `npm test` finds or installs.
 *
 * @param switches further switches of its command line
 * @throws with what to install, where there is none
 */
export async function startBrowser(switches: readonly string[] = []): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error(HOW_TO_INSTALL);
  return chromium.launch({
    executablePath,
    // Chromium has no sandbox for root; the pages are our own.
    chromiumSandbox: process.getuid?.() !== 0,
    // Containers often have a shared memory of a few MiB.
    args: ['--disable-dev-shm-usage', ...switches],
  });
}

/** Opens a browser without cookies. Its scripts are off unless `javaScriptEnabled` is true: pages have to work so. */
export function newVisitor(browser: Browser, options: BrowserContextOptions = {}): Promise<BrowserContext> {
  return browser.newContext({ javaScriptEnabled: false, ...options });
}

interface AxeViolation {
  id: string;
  help: string;
  nodes: { html: string }[];
}

/**
 * Returns what axe finds wrong with a page as it is shown now, in the light and in the dark colour scheme: a line for
 * each place.
 */
export async function listAccessibilityViolations(page: Page): Promise<string[]> {
  const browser = page.context().browser();
  if (!browser) throw new Error('the page has no browser');
  // A copy of the page as it is now, as axe is a script, which the page itself may not run.
  const [url, html] = [page.url(), (await page.content()).replace(/<script\b[^>]*><\/script>/g, '')];
  const context = await browser.newContext({ viewport: page.viewportSize() });
  try {
    await context.route(url, (route) => route.fulfill({ contentType: 'text/html; charset=utf-8', body: html }));
    const copy = await context.newPage();
    await copy.goto(url);
    await copy.addScriptTag({ path: axe });
    const found: string[] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      await copy.emulateMedia({ colorScheme });
      for (const line of await runAxe(copy)) found.push(`${colorScheme} ${url} ${line}`);
    }
    return found;
  } finally {
    await context.close();
  }
}

async function runAxe(page: Page): Promise<string[]> {
  const { violations } = (await page.evaluate('axe.run()')) as { violations: AxeViolation[] };
  return violations.flatMap(({ id, help, nodes }) => nodes.map(({ html }) => `${id}: ${help}: ${html}`));
}
