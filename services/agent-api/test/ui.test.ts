import { afterAll, beforeAll, expect, it } from 'vitest';
import { startDeployment, type TestDeployment } from './deployment.ts';

let deployment: TestDeployment;
beforeAll(async () => {
  deployment = await startDeployment({
    env: { MOUNT_PREFIX: '/agents', LANGGRAPH_UI: '{"echo":"./ui/components.jsx"}' },
  });
});
afterAll(() => deployment?.close());

const show = (agent: string, headers: Record<string, string> = {}) =>
  fetch(`${deployment.url}/agents/ui/${agent}`, { method: 'POST', headers, body: '{"name":"counter"}' });

it('a page gets the HTML to insert, and its browser the files it names, below the mount prefix', async () => {
  const answer = await show('echo');
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html']);
  const { host } = new URL(deployment.url);
  expect(await answer.text()).toBe(
    [
      `<link rel="stylesheet" href="http://${host}/agents/ui/echo/entrypoint.css" />`,
      `<script src="http://${host}/agents/ui/echo/entrypoint.js" onload='__LGUI_echo.render("counter", "{{shadowRootId}}")'></script>`,
    ].join('\n'),
  );
  const files = ['entrypoint.css', 'entrypoint.js'].map((name) => fetch(`${deployment.url}/agents/ui/echo/${name}`));
  const [css, js] = await Promise.all(files);
  expect(css?.headers.get('content-type')).toBe('text/css; charset=utf-8');
  expect(await css?.text()).toContain('.counter');
  expect(js?.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  expect(await js?.text()).toContain('var __LGUI_echo = ');
});

it('files behind a proxy are named by the address of the proxy', async () => {
  const forwarded = {
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'outer',
    'x-forwarded-prefix': '/deployments/d',
  };
  expect(await (await show('echo', forwarded)).text()).toContain(
    'src="https://outer/deployments/d/agents/ui/echo/entrypoint.js"',
  );
});

it('a graph without components, and a missing file, are a 404', async () => {
  const missing = await show('chat');
  expect([missing.status, await missing.json()]).toEqual([404, { detail: 'There are no components of "chat"' }]);
  const file = await fetch(`${deployment.url}/agents/ui/echo/langgraph.json`);
  expect([file.status, await file.json()]).toEqual([404, { detail: 'There is no such file' }]);
});
