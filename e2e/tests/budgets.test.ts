import { randomUUID } from 'node:crypto';
import type { Client } from '@langchain/langgraph-sdk';
import type { Budget, IssuedApiKey } from '@runyard/contracts';
import { afterEach, expect, inject, it, onTestFinished } from 'vitest';
import { createAdministratorClient } from '../access/callers.ts';
import { newClient } from '../harness/client.ts';
import { callControlPlane, createDeployment, waitUntilDeployed } from '../harness/control-plane.ts';
import { PROBE_PROJECT } from '../harness/platform.ts';

const platform = inject('platform');
const ask = createAdministratorClient(platform);
const client = newClient();
const budgets = `/v2/deployments/${platform.deploymentId}/budgets`;

const WORKSPACE_EDITOR = '5a7d6f2e-0000-4000-8000-000000000012';

const made: string[] = [];
afterEach(async () => {
  for (const id of made.splice(0)) await ask('DELETE', `${budgets}/${id}`);
});

/** Caps an assistant that nobody else has: other tests use the deployment too. */
async function capped(graphId: string, terms: Partial<Budget>) {
  const { assistant_id: assistantId } = await client.assistants.create({ graphId, name: randomUUID() });
  const who = { name: 'of the test', subject: 'assistant', subject_id: assistantId, period: 'month' };
  const budget = await ask<Budget>('POST', budgets, { ...who, ...terms });
  made.push(budget.id);
  expect(budget).toMatchObject({ is_reached: true, message: null });
  return { assistantId, change: (body: object) => ask<Budget>('PATCH', `${budgets}/${budget.id}`, body) };
}

/** The SDK's calls that create a run, by the operation that each of them is. */
const CREATIONS: Record<string, (assistantId: string, thread: string) => Promise<unknown>> = {
  createRun: (assistantId, thread) => client.runs.create(thread, assistantId),
  waitRun: (assistantId, thread) => client.runs.wait(thread, assistantId),
  streamRun: (assistantId, thread) => client.runs.stream(thread, assistantId).next(),
  createStatelessRun: (assistantId) => client.runs.create(null, assistantId),
  waitStatelessRun: (assistantId) => client.runs.wait(null, assistantId),
  streamStatelessRun: (assistantId) => client.runs.stream(null, assistantId).next(),
  createRunBatch: (assistantId) => client.runs.createBatch([{ assistantId }]),
};

it('a budget of runs refuses one too many by each operation and protocol, and nothing of it stays', async () => {
  const { assistantId, change } = await capped('echo', { runs_max: 2 });
  for (const _ of [1, 2]) await client.runs.wait(null, assistantId, { input: {} });
  const { thread_id: thread } = await client.threads.create();
  const text = expect.stringContaining('The budget \\"of the test\\" is used up: 2 runs a month');
  for (const status of [429, 402]) {
    await change({ refusal_status: status });
    for (const [operation, create] of Object.entries(CREATIONS))
      await expect(create(assistantId, thread), operation).rejects.toMatchObject({ status, text });
  }
  expect(await client.runs.list(thread)).toEqual([]);
  expect((await client.threads.get(thread)).status).toBe('idle');

  const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hello' }] };
  const rpc = await post(`/a2a/${assistantId}`, { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } });
  expect(rpc.body).toMatchObject({ error: { message: expect.stringContaining('is used up') } });
  const agUi = { threadId: randomUUID(), runId: randomUUID(), state: {}, messages: [], tools: [], context: [] };
  const run = await post(`/agui/${assistantId}`, { ...agUi, forwardedProps: {} });
  expect([run.status, JSON.stringify(run.body)]).toEqual([402, expect.stringContaining('is used up')]);

  await change({ runs_max: 3 });
  await client.runs.wait(null, assistantId, { input: {} });
  await expect(client.runs.create(null, assistantId)).rejects.toMatchObject({ status: 402 });
});

it('a budget of tokens stops the run that uses it up, and answers others as it is told to', async () => {
  const { assistantId, change } = await capped('weather', { tokens_max: 1, refusal_status: 402 });
  const { thread_id: thread } = await client.threads.create();
  const { run_id: run } = await client.runs.create(thread, assistantId, {
    input: { messages: [{ role: 'user', content: 'Bern?' }] },
  });
  await client.runs.join(thread, run);
  expect(await client.runs.get(thread, run)).toMatchObject({
    status: 'interrupted',
    cancel_reason: expect.stringContaining('The budget "of the test" is used up: 1 token a month'),
  });
  const refused = client.runs.create(thread, assistantId, { input: null });
  await expect(refused).rejects.toMatchObject({ status: 402, text: expect.stringContaining('is used up') });
  const { next } = await client.threads.getState(thread);
  expect(next).not.toEqual([]);
  await change({ mode: 'shadow' });
  await client.runs.wait(thread, assistantId, { input: null });
  expect((await client.threads.getState(thread)).next).toEqual([]);
});

it('a budget of a key holds in all deployments of the workspace together', async () => {
  const deployment = await createDeployment('capped', PROBE_PROJECT);
  onTestFinished(() => callControlPlane('DELETE', `/deployments/${deployment.id}`).then(() => undefined));
  await waitUntilDeployed(deployment);
  const [workspace] = await ask<{ id: string }[]>('GET', '/api/v1/workspaces');
  const key = await ask<IssuedApiKey>('POST', '/api/v1/orgs/current/service-keys', {
    description: 'of two deployments',
    workspaces: [workspace!.id],
    role_id: WORKSPACE_EDITOR,
  });
  const terms = { name: 'of a key', subject: 'key', subject_id: key.id, period: 'month', runs_max: 2 };
  const ofWorkspace = '/v2/workspaces/current/budgets';
  const budget = await ask<Budget>('POST', ofWorkspace, terms);
  onTestFinished(() => ask('DELETE', `${ofWorkspace}/${budget.id}`));
  const urls = [platform.deploymentUrl, deployment.source_config.custom_url];
  const clients = urls.map((apiUrl) => newClient({ apiUrl, apiKey: key.key }));
  for (const each of clients) await each.runs.wait(null, 'echo', { input: {} });
  const outcome = (each: Client) =>
    each.runs.create(null, 'echo', { input: {} }).then(
      () => 'created',
      (error: { status: number }) => error.status,
    );
  // Each of them has seen one run of two; the sum comes by the journal.
  for (const each of clients) await expect.poll(() => outcome(each), { interval: 300, timeout: 20_000 }).toBe(429);
  expect(await outcome(newClient({ apiUrl: deployment.source_config.custom_url }))).toBe('created');
});

async function post(path: string, body: object): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(platform.deploymentUrl + path, {
    method: 'POST',
    headers: { 'x-api-key': platform.apiKey, 'content-type': 'application/json', 'a2a-version': '1.0' },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  return { status: answer.status, body: text.startsWith('{') ? JSON.parse(text) : text };
}
