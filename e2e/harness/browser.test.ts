import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { listAccessibilityViolations, newVisitor, startBrowser } from './browser.ts';

const PAGE = `<!doctype html><html lang="en"><title>Page</title>
<style>body { background: #fff } @media (prefers-color-scheme: dark) { body { background: #000 } p { color: #222 } h1 { color: #fff } }</style>
<main><h1>Page</h1><p>Text</p></main><script>document.title = 'Script'</script></html>`;

it('axe finds text that is too dark in the dark scheme alone, in a page that runs no script', async () => {
  const server = createServer((_, response) => {
    const policy = "default-src 'none'; style-src 'unsafe-inline'";
    response.writeHead(200, { 'content-type': 'text/html', 'content-security-policy': policy }).end(PAGE);
  }).listen(0, '127.0.0.1');
  const browser = await startBrowser();
  try {
    const page = await (await newVisitor(browser)).newPage();
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    expect(await page.title()).toBe('Page');
    const violations = await listAccessibilityViolations(page);
    expect(violations.map((line) => line.replace(/http:\S+/, 'at'))).toEqual([
      expect.stringMatching(/^dark at color-contrast: .*<p>Text<\/p>$/),
    ]);
  } finally {
    await browser.close();
    server.close();
  }
});
