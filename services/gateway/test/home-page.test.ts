import { FakeControlPlane } from '@runyard/test-kit/fake-platform';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway, type TestGateway } from './start-gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ controlPlane: await FakeControlPlane.start() });
  await gateway.untilReady();
});
afterAll(() => gateway.close());

it('a person who opens the address of the platform gets a page that leads to the sign-in', async () => {
  for (const path of ['/', '/?from=mail']) {
    const page = await fetch(gateway.url + path);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(await page.text()).toContain('<a href="login">Sign in</a>');
  }
  const head = await fetch(gateway.url, { method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([200, '']);
  const post = await fetch(gateway.url, { method: 'POST', body: '{}' });
  expect([post.status, await post.json()]).toEqual([404, { detail: 'Not Found' }]);
});
