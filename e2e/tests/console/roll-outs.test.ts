import type { Revision } from '@runyard/contracts';
import { waitFor } from '@runyard/test-kit';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { startBrowser } from '../../harness/browser.ts';
import { newClient } from '../../harness/client.ts';
import { makePerson, openPages, type Pages } from '../../harness/console.ts';
import { callControlPlane, createDeployment, type Deployment, waitUntilDeployed } from '../../harness/control-plane.ts';
import { PROBE_PROJECT } from '../../harness/platform.ts';

let browser: Browser;
let pages: Pages;
let deployment: Deployment;
beforeAll(async () => {
  const [started, made] = await Promise.all([startBrowser(), createDeployment('rolled', PROBE_PROJECT)]);
  [browser, deployment] = [started, made];
  pages = await openPages(browser, await makePerson('Editor'));
  await waitUntilDeployed(deployment);
});
afterAll(async () => {
  await browser?.close();
  if (deployment) await callControlPlane('DELETE', `/deployments/${deployment.id}`);
});

const shortId = (revisionId: string) => revisionId.slice(-8);

async function change(patch: object): Promise<string> {
  const { status, body } = await callControlPlane<Deployment>('PATCH', `/deployments/${deployment.id}`, patch);
  expect(status).toBe(200);
  return body.latest_revision_id;
}

it('a build that fails shows its cause', async () => {
  const { body } = await callControlPlane<Deployment>('POST', '/deployments', {
    name: 'from nowhere',
    source: 'github',
    source_config: { repo_url: '/nowhere/agent', deployment_type: 'dev' },
    source_revision_config: { repo_ref: 'main', langgraph_config_path: 'langgraph.json' },
  });
  onTestFinished(() => callControlPlane('DELETE', `/deployments/${body.id}`).then(() => undefined));
  const { page } = await pages.open(`/deployments/${body.id}/revisions/${body.latest_revision_id}`);
  await page.getByRole('alert').getByText('/nowhere/agent').waitFor();
  expect(await page.getByRole('alert').textContent()).toContain('Why it failed');
});

it('a revision that does not start is never shown as the one that serves, and its cause is', async () => {
  const failing = await change({ secrets: [{ name: 'LANGGRAPH_AES_KEY', value: 'too short' }] });
  const { page } = await pages.open(`/deployments/${deployment.id}`);
  const rowOf = (id: string) => page.getByRole('row').filter({ hasText: shortId(id) });
  await rowOf(failing).waitFor();
  const marked = new Set<string>();
  const status = async () => {
    for (const text of await page.getByRole('row').filter({ hasText: 'active' }).allTextContents()) marked.add(text);
    const path = `/deployments/${deployment.id}/revisions/${failing}`;
    return (await callControlPlane<Revision>('GET', path)).body.status;
  };
  await waitFor(async () => (await status()).endsWith('FAILED'), { what: 'the revision to fail' });
  await rowOf(failing).getByText('LANGGRAPH_AES_KEY').waitFor();
  await status();
  expect([...marked].filter((text) => text.includes(shortId(failing)))).toEqual([]);
  await rowOf(deployment.latest_revision_id).getByText('active', { exact: true }).waitFor();
});

it('a roll-out and the way back, by the page, cost clients no request', async () => {
  const client = newClient({ apiUrl: deployment.source_config.custom_url });
  let [isOver, requests] = [false, 0];
  const load = async () => {
    while (!isOver) {
      expect(await client.runs.wait(null, 'family', { input: { text: 'one' } })).toEqual({ text: 'one!' });
      requests += 1;
    }
  };
  const loads = Promise.all([load(), load()]);
  const { page } = await pages.open(`/deployments/${deployment.id}`);
  const next = await change({
    secrets: [{ name: 'GREETING', value: 'two' }],
  });
  const rowOf = (id: string) => page.getByRole('row').filter({ hasText: shortId(id) });
  await rowOf(next).getByText('active', { exact: true }).waitFor({ timeout: 60_000 });
  await rowOf(deployment.latest_revision_id).getByRole('button', { name: 'Roll back to this …' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Roll back' }).click();
  // The page of the new revision, which is one of the first one's configuration.
  await page.waitForURL(/\/revisions\//);
  await page.getByRole('heading', { level: 2, name: /active/ }).waitFor({ timeout: 60_000 });
  const before = requests;
  await expect.poll(() => requests).toBeGreaterThan(before + 5);
  isOver = true;
  await loads;
  const { body } = await callControlPlane<Deployment>('GET', `/deployments/${deployment.id}`);
  expect(page.url()).toContain(body.active_revision_id);
});
