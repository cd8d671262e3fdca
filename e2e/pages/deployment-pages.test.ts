import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import path from 'node:path';
import { LOOPBACK_SESSION_COOKIE } from '@runyard/contracts';
import { startServiceProcess } from '@runyard/test-kit';
import {
  deploymentRoute,
  FakeControlPlane,
  FakeOrgAccess,
  type FakeServer,
  INTERNAL_TOKEN,
  startFakeServer,
} from '@runyard/test-kit/fake-platform';
import type { Browser, BrowserContext, Frame, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newVisitor, startBrowser } from '../harness/browser.ts';

const GATEWAY = path.resolve(import.meta.dirname, '../../services/gateway/src/main.ts');
/** Code of the project: it asks the platform as whoever opened the page. */
const SCRIPT =
  'self.acted = fetch("/api/v1/orgs/current/info").then((a) => a.text(), () => "nothing").then((read) => [self.origin, read])';
const HTML = `<!doctype html><script>${SCRIPT}</script>`;
const XHTML = `<html xmlns="http://www.w3.org/1999/xhtml"><head><script><![CDATA[${SCRIPT}]]></script></head></html>`;
const SVG = `<svg xmlns="http://www.w3.org/2000/svg"><script><![CDATA[${SCRIPT}]]></script></svg>`;
const ANYTHING = "script-src * 'unsafe-inline' 'unsafe-eval'";

/** One answer of the project's own code. */
interface Answer {
  status?: number;
  headers: (readonly [name: string, value: string])[];
  body?: string;
}

let orgAccess: FakeOrgAccess;
let controlPlane: FakeControlPlane;
let upstream: FakeServer;
let gateway: Awaited<ReturnType<typeof startServiceProcess>>;
let browser: Browser;
let visitor: BrowserContext;
let page: Page;
let answer: (req: IncomingMessage) => Answer;
let below: string;
let sessionToken: string;

beforeAll(async () => {
  upstream = await startFakeServer((req, res) => {
    const { status = 200, headers, body = HTML } = answer(req);
    res.writeHead(status, headers.flat());
    res.end(status === 304 ? undefined : body);
  });
  orgAccess = await FakeOrgAccess.start();
  controlPlane = await FakeControlPlane.start();
  // With an auth handler of its own, a deployment shows its pages to everybody.
  const route = deploymentRoute({ upstreams: [upstream.url], has_custom_auth: true });
  controlPlane.routes.push(route);
  sessionToken = orgAccess.signIn(route.workspace_id).token;
  gateway = await startServiceProcess({
    entry: GATEWAY,
    env: {
      ORG_ACCESS_URL: orgAccess.url,
      CONTROL_PLANE_URL: controlPlane.url,
      EVENT_BUS: 'redis',
      EVENT_BUS_REDIS_URI: 'redis://127.0.0.1:1',
    },
    secrets: { INTERNAL_TOKEN },
    readyPath: '/ok?check_db=1',
  });
  below = `${gateway.url}/deployments/${route.deployment_id}`;
  browser = await startBrowser();
  visitor = await newVisitor(browser, { javaScriptEnabled: true });
  await visitor.addCookies([{ name: LOOPBACK_SESSION_COOKIE, value: sessionToken, url: gateway.url, httpOnly: true }]);
  page = await visitor.newPage();
});
afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
  await Promise.all([orgAccess, controlPlane, upstream].map((each) => each?.close()));
});
beforeEach(() => page.goto('about:blank'));

/**
 * Opens what the deployment answers as a link does. Returns the origin of its code there, and what that read of the
 * platform; undefined when none of it ran.
 */
async function visit(target = `/${randomUUID()}`): Promise<[origin: string, read: string] | undefined> {
  // An answer that is no page leaves the one that was there, or becomes a download.
  await page.goto(below + target).catch(() => undefined);
  return whatActedIn(page);
}

const whatActedIn = (place: Page | Frame) =>
  place.evaluate(() => (self as unknown as { acted?: Promise<[string, string]> }).acted);

const APART = ['null', 'nothing'];
const type = (value: string) => ['content-type', value] as const;

it('a script of the platform’s own origin acts with the session', async () => {
  await page.goto(`${gateway.url}/login`);
  const [origin, read] = (await page.evaluate(SCRIPT)) as [string, string];
  expect(origin).toBe(gateway.url);
  expect(read).toContain('x-runyard-principal');
});

describe('what a deployment answers at the platform’s host never acts with the session', () => {
  it.each([
    ['text/html', HTML],
    ['TEXT/HTML; charset=utf-16', HTML],
    ['text/html; charset=utf-7', HTML],
    ['application/json', HTML],
    ['application/json;x=1, text/html', HTML],
    ['text/event-stream;x, text/html; charset=utf-8', HTML],
    ['text/html, application/json', HTML],
    ['text/plain', HTML],
    ['*/*', HTML],
    ['unknown/unknown', HTML],
    ['application/unknown', HTML],
    ['application/octet-stream', HTML],
    ['application/pdf', HTML],
    ['application/xhtml+xml', XHTML],
    ['application/vnd.wap.xhtml+xml', XHTML],
    ['text/xml', XHTML],
    ['application/rss+xml', XHTML],
    ['application/mathml+xml', XHTML],
    ['image/svg+xml', SVG],
    ['image/png', HTML],
    ['multipart/related; boundary=x', `--x\r\ncontent-type: text/html\r\n\r\n${HTML}\r\n--x--`],
    ['multipart/x-mixed-replace; boundary=x', `--x\r\ncontent-type: text/html\r\n\r\n${HTML}\r\n--x--`],
    ['message/rfc822', `content-type: text/html\r\n\r\n${HTML}`],
    ['application/http-index-format', HTML],
    ['text/javascript', HTML],
    ['/', HTML],
  ])('as %s', async (contentType, body) => {
    answer = () => ({ headers: [type(contentType)], body });
    expect([undefined, APART]).toContainEqual(await visit());
  });

  it.each<[string, Answer['headers']]>([
    ['without a type', []],
    ['with two types', [type('application/json'), type('text/html')]],
    ['with a policy of its own', [type('text/html'), ['content-security-policy', ANYTHING]]],
    [
      'with a sandbox of its own',
      [type('text/html'), ['content-security-policy', 'sandbox allow-same-origin allow-scripts']],
    ],
    [
      'with a connection that names the policy',
      [type('text/html'), ['connection', 'content-security-policy, x-content-type-options']],
    ],
    ['with types that may be guessed', [type('text/plain'), ['x-content-type-options', 'guess']]],
    ['with a policy that only reports', [type('text/html'), ['content-security-policy-report-only', ANYTHING]]],
    ['with a policy in a trailer', [type('text/html'), ['trailer', 'content-security-policy']]],
    ['with an origin that it wants', [type('text/html'), ['origin-agent-cluster', '?1'], ['document-policy', '*']]],
    ['with a file name', [type('text/html'), ['content-disposition', 'inline; filename="page.html"']]],
  ])('%s', async (_how, headers) => {
    answer = () => ({ headers });
    expect([undefined, APART]).toContainEqual(await visit());
  });

  it.each([201, 203, 206, 300, 400, 401, 403, 404, 410, 429, 500, 503, 599])('with status %i', async (status) => {
    answer = () => ({ status, headers: [type('text/html')] });
    expect([undefined, APART]).toContainEqual(await visit());
  });

  it.each<[string, Answer['headers']]>([
    ['another type', [type('application/json')]],
    ['another policy', [type('application/json'), ['content-security-policy', ANYTHING]]],
    ['an empty policy', [['content-security-policy', '']]],
    ['nothing new', []],
  ])('when a 304 brings %s', async (_what, later) => {
    const validator = [['etag', '"1"'] as const, ['cache-control', 'no-cache'] as const];
    let revalidations = 0;
    answer = ({ headers }) => {
      if (headers['if-none-match'] === undefined) return { headers: [type('text/html'), ...validator] };
      revalidations += 1;
      return { status: 304, headers: [...validator, ...later] };
    };
    const target = `/${randomUUID()}`;
    expect(await visit(target)).toEqual(APART);
    await page.goto('about:blank');
    expect(await visit(target)).toEqual(APART);
    expect(revalidations).toBe(1);
  });

  it('in a frame or in a window that its page opens, nor as a service worker', async () => {
    answer = () => ({ headers: [type('text/html')] });
    await visit();
    const opening = page.waitForEvent('popup');
    await page.evaluate((url) => {
      document.body.append(Object.assign(document.createElement('iframe'), { src: url }));
      open(url);
    }, `${below}/y`);
    const popup = await opening;
    await popup.waitForLoadState();
    expect(await whatActedIn(popup)).toEqual(APART);
    const frame = await page.waitForSelector('iframe').then((element) => element.contentFrame());
    await frame!.waitForLoadState();
    expect(await whatActedIn(frame!)).toEqual(APART);
    await popup.close();
    const register = async () => `${await navigator.serviceWorker.register('./worker.js')}`;
    await expect(page.evaluate(register)).rejects.toThrow();
  });
});

it('a deployment sets no cookie at the platform’s host, and makes the browser forget none', async () => {
  const cookies = ['theirs=1', `${LOOPBACK_SESSION_COOKIE}=stolen`, `=${LOOPBACK_SESSION_COOKIE}=stolen`];
  const setting = cookies.map((text) => ['set-cookie', `${text}; Path=/`] as const);
  answer = () => ({ headers: [type('text/html'), ...setting, ['clear-site-data', '"*"']] });
  expect(await visit()).toEqual(APART);
  await expect(page.evaluate(`document.cookie = 'theirs=2; path=/'`)).rejects.toThrow();
  expect((await visitor.cookies()).map(({ name, value }) => [name, value])).toEqual([
    [LOOPBACK_SESSION_COOKIE, sessionToken],
  ]);
});
