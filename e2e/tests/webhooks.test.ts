import { randomBytes, randomUUID } from 'node:crypto';
import { type ReceivedWebhook, WebhookReceiver, waitFor } from '@runyard/test-kit';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { newClient } from '../harness/client.ts';
import project from '../projects/probe/langgraph.json' with { type: 'json' };

const client = newClient();
const { deploymentUrl, apiKey } = inject('platform');
let receiver: WebhookReceiver;
beforeAll(async () => {
  receiver = await new WebhookReceiver().open();
});
afterAll(() => receiver.close());

const place = () => {
  const path = `/${randomUUID()}`;
  return { path, webhook: receiver.url(path) };
};
async function logOf(threadId: string, runId: string) {
  const response = await fetch(`${deploymentUrl}/threads/${threadId}/runs/${runId}/webhook-deliveries`, {
    headers: { 'x-api-key': apiKey },
  });
  return (await response.json()) as {
    status: string;
    attempts: { status_code: number | null; error: string | null }[];
  }[];
}

it('a failed run reports why, again when the receiver was down, and its log shows both tries', async () => {
  const { path, webhook } = place();
  receiver.answer(path, { status: 503 });
  const { thread_id: threadId } = await client.threads.create();
  const run = await client.runs.create(threadId, 'boom', { input: { messages: [] }, webhook });
  const [first, second] = (await receiver.received(path, 2)) as [ReceivedWebhook, ReceivedWebhook];
  expect(first.body).toMatchObject({
    run_id: run.run_id,
    thread_id: threadId,
    status: 'error',
    kwargs: { webhook },
    error: { error: expect.any(String), message: expect.any(String) },
  });
  expect(second.headers['webhook-id']).toBe(first.headers['webhook-id']);
  expect(second.body.run_ended_at).toBe(first.body.run_ended_at);
  const log = await waitFor(async () => {
    const deliveries = await logOf(threadId, run.run_id);
    return deliveries[0]?.status === 'delivered' ? deliveries : undefined;
  });
  expect(log).toMatchObject([
    {
      attempts: [
        { status_code: 503, error: 'HTTP 503' },
        { status_code: 204, error: null },
      ],
    },
  ]);
});

it('a run that waits for an answer reports that it has ended, and so does a run without a thread', async () => {
  const waiting = place();
  const { thread_id: threadId } = await client.threads.create();
  await client.runs.wait(threadId, 'approval', { input: { messages: [] }, webhook: waiting.webhook });
  expect((await receiver.received(waiting.path))[0]?.body).toMatchObject({ status: 'success', thread_id: threadId });
  const stateless = place();
  await client.runs.wait(null, 'echo', {
    input: { messages: [{ role: 'user', content: 'hi' }] },
    webhook: stateless.webhook,
  });
  const [told] = await receiver.received(stateless.path);
  expect(told?.body.values.messages).toHaveLength(2);
  expect(JSON.stringify(told?.body)).not.toMatch(/langgraph_auth_user|svc_auth_user|x-api-key/i);
});

it('this machine cannot be reached by its name, and nothing is created', async () => {
  const { thread_id: threadId } = await client.threads.create();
  const webhook = 'http://localhost:2024/hook';
  await expect(client.runs.create(threadId, 'echo', { input: { messages: [] }, webhook })).rejects.toThrow(
    'Webhook host blocked: localhost address',
  );
  expect(await client.runs.list(threadId)).toEqual([]);
});

it('a webhook is signed with the secret of the project, as Standard Webhooks libraries verify it', async () => {
  const { path, webhook } = place();
  await client.runs.wait(null, 'echo', { input: { messages: [] }, webhook });
  const [told] = await receiver.received(path);
  const headers = told!.headers as Record<string, string>;
  expect(new Webhook(project.env.WEBHOOK_SIGNING_SECRETS).verify(told!.text, headers)).toEqual(told?.body);
  const another = new Webhook(randomBytes(32).toString('base64'));
  expect(() => another.verify(told!.text, headers)).toThrow(WebhookVerificationError);
});
