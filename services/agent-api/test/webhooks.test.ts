import { randomBytes, randomUUID } from 'node:crypto';
import type { WebhookDelivery } from '@runyard/contracts';
import { WebhookReceiver, waitFor } from '@runyard/test-kit';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDeployment, type TestDeployment } from './deployment.ts';

const template = (name: string) => `Bearer \${{ env.${name} }}`;

let deployment: TestDeployment;
let receiver: WebhookReceiver;
const secrets = [1, 2].map(() => `whsec_${randomBytes(32).toString('base64')}`);
beforeAll(async () => {
  receiver = await new WebhookReceiver().open();
  deployment = await startDeployment({
    env: {
      WEBHOOK_SIGNING_SECRETS: secrets.join(','),
      LG_WEBHOOK_TOKEN: 'from-outside',
      LANGGRAPH_WEBHOOKS: JSON.stringify({ headers: { 'x-token': template('LG_WEBHOOK_TOKEN') } }),
    },
  });
});
afterAll(async () => {
  await deployment?.close();
  await receiver.close();
});

async function post(path: string, body: unknown) {
  const response = await fetch(deployment.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as unknown };
}
async function log(threadId: string, runId: string) {
  const response = await fetch(`${deployment.url}/threads/${threadId}/runs/${runId}/webhook-deliveries`);
  return { status: response.status, body: (await response.json()) as WebhookDelivery[] };
}
function place(path = `/${randomUUID()}`) {
  return { path, webhook: receiver.url(path) };
}

describe('a webhook', () => {
  it('carries the values of a run that ended, signed with every secret, and its delivery is in the log', async () => {
    const { path, webhook } = place();
    const { thread_id: threadId } = await deployment.client.threads.create();
    const run = await deployment.client.runs.create(threadId, 'echo', {
      input: { messages: [] },
      webhook: `${webhook}?token=secret`,
      metadata: { team: 'red' },
    });
    await (await deployment.worker.take()).succeed({ answer: 42 });
    const [delivered] = await receiver.received(`${path}?token=secret`);
    expect(delivered?.body).toEqual({
      run_id: run.run_id,
      thread_id: threadId,
      assistant_id: run.assistant_id,
      status: 'success',
      created_at: run.created_at,
      updated_at: expect.any(String),
      metadata: { team: 'red', created_by: 'system', graph_id: 'echo', assistant_id: run.assistant_id },
      kwargs: (run as unknown as { kwargs: unknown }).kwargs,
      multitask_strategy: 'enqueue',
      run_started_at: expect.stringMatching(/\+00:00$/),
      run_ended_at: expect.stringMatching(/\+00:00$/),
      webhook_sent_at: expect.stringMatching(/\+00:00$/),
      values: { answer: 42 },
    });
    expect(delivered?.headers).toMatchObject({ 'content-type': 'application/json', 'x-token': 'Bearer from-outside' });
    for (const secret of secrets) {
      expect(new Webhook(secret).verify(delivered!.text, delivered!.headers as Record<string, string>)).toEqual(
        delivered?.body,
      );
    }
    const settled = await waitFor(async () => {
      const answer = await log(threadId, run.run_id);
      return answer.body[0]?.status === 'delivered' ? answer.body : undefined;
    });
    expect(settled).toEqual([
      {
        delivery_id: delivered?.headers['webhook-id'],
        url: webhook,
        status: 'delivered',
        attempts: [{ started_at: expect.any(String), duration_ms: expect.any(Number), status_code: 204, error: null }],
        next_attempt_at: null,
        created_at: expect.any(String),
        ended_at: expect.any(String),
      },
    ]);
    const metrics = await (await fetch(`${deployment.url}/metrics`)).text();
    expect(metrics).toMatch(/^lg_api_webhook_attempts_total\{outcome="delivered"[^}]*\} [1-9]/m);
    expect(metrics).toMatch(/^lg_api_webhooks_pending(\{[^}]*\})? 0$/m);
  });

  it('is sent again under the same id after a failure of the receiver', async () => {
    const { path, webhook } = place();
    receiver.answer(path, { status: 503 });
    const { thread_id: threadId } = await deployment.client.threads.create();
    const run = await deployment.client.runs.create(threadId, 'echo', { input: {}, webhook });
    await (await deployment.worker.take()).fail({ error: 'ValueError', message: 'no such thing' });
    const [first, second] = await receiver.received(path, 2);
    expect(first?.body).toMatchObject({
      status: 'error',
      values: null,
      error: { error: 'ValueError', message: 'no such thing' },
    });
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    const { body } = await log(threadId, run.run_id);
    expect(body[0]?.attempts[0]).toMatchObject({ status_code: 503, error: 'HTTP 503' });
  });

  it('is not sent again after a client error, and a redirect is not followed', async () => {
    for (const answer of [{ status: 410 }, { status: 307, headers: { location: receiver.url('/elsewhere') } }]) {
      const { path, webhook } = place();
      receiver.answer(path, answer);
      const { thread_id: threadId } = await deployment.client.threads.create();
      const run = await deployment.client.runs.create(threadId, 'echo', { input: {}, webhook });
      await (await deployment.worker.take()).succeed({});
      const settled = await waitFor(async () => {
        const { body } = await log(threadId, run.run_id);
        return body[0]?.ended_at ? body : undefined;
      });
      expect(settled).toMatchObject([{ status: 'failed', attempts: [{ status_code: answer.status }] }]);
    }
    expect(receiver.at('/elsewhere')).toEqual([]);
  });

  it('that was given up is sent again when that is asked for, and not once it is delivered', async () => {
    const { path, webhook } = place();
    receiver.answer(path, { status: 400 });
    const { thread_id: threadId } = await deployment.client.threads.create();
    const { run_id: runId } = await deployment.client.runs.create(threadId, 'echo', { input: {}, webhook });
    await (await deployment.worker.take()).succeed({ answer: 42 });
    const ended = (status: string) =>
      waitFor(async () => {
        const [delivery] = (await log(threadId, runId)).body;
        return delivery?.status === status ? delivery : undefined;
      });
    const { delivery_id } = await ended('failed');
    const again = (id: string) =>
      post(`/threads/${threadId}/runs/${runId}/webhook-deliveries/${id}/redeliver`, undefined);
    expect(await again(delivery_id)).toMatchObject({
      status: 200,
      body: { delivery_id, status: 'pending', attempts: [{ status_code: 400 }], ended_at: null },
    });
    const [first, second] = await receiver.received(path, 2);
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(second?.body).toMatchObject({ run_id: runId, values: { answer: 42 } });
    await ended('delivered');
    expect(await again(delivery_id)).toEqual({ status: 409, body: { detail: expect.any(String) } });
    expect((await again(randomUUID())).status).toBe(404);
    expect((await again('no-uuid')).status).toBe(422);
  });

  it('is accepted by every way to create a run, and sent although a stateless thread is deleted', async () => {
    const { path, webhook } = place();
    const body = { assistant_id: 'echo', input: {}, webhook };
    const { thread_id: threadId } = await deployment.client.threads.create();
    const ways: [string, unknown][] = [
      [`/threads/${threadId}/runs`, body],
      [`/threads/${threadId}/runs/stream`, body],
      [`/threads/${threadId}/runs/wait`, body],
      ['/runs', body],
      ['/runs/stream', body],
      ['/runs/wait', body],
      ['/runs/batch', [body, body]],
    ];
    const delivered = new Set<string>();
    for (const [index, [way, sent]] of ways.entries()) {
      const answered = fetch(deployment.url + way, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(sent),
      }).then((response) => response.text());
      for (const _ of [sent].flat()) await (await deployment.worker.take()).succeed({ way });
      await answered;
      for (const received of await receiver.received(path, index + [sent].flat().length)) {
        delivered.add(received.body.values.way);
      }
    }
    expect(delivered).toEqual(new Set(ways.map(([way]) => way)));
    expect((await receiver.received(path, ways.length + 1)).map(({ body }) => body.status)).toEqual(
      Array.from({ length: ways.length + 1 }, () => 'success'),
    );
  });

  it('reports a run cancelled before it began, and one deleted with its thread', async () => {
    const cancelled = place();
    const { thread_id: threadId } = await deployment.client.threads.create();
    const asked = { input: {}, webhook: cancelled.webhook, afterSeconds: 600 };
    const run = await deployment.client.runs.create(threadId, 'echo', asked);
    await deployment.client.runs.cancel(threadId, run.run_id);
    expect((await receiver.received(cancelled.path))[0]?.body).toMatchObject({
      status: 'interrupted',
      run_started_at: null,
    });
    const deleted = place();
    await deployment.client.runs.create(threadId, 'echo', { ...asked, webhook: deleted.webhook });
    await deployment.client.threads.delete(threadId);
    expect((await receiver.received(deleted.path))[0]?.body).toMatchObject({
      status: 'interrupted',
      thread_id: threadId,
    });
  });

  it('reports each run of its cron', async () => {
    const { path, webhook } = place();
    const { cron_id: cronId } = await deployment.client.crons.create('echo', {
      schedule: '0 0 1 1 *',
      input: {},
      webhook,
    });
    await deployment.pool.query(`UPDATE cron SET next_run_date = now() - interval '1 second' WHERE cron_id = $1`, [
      cronId,
    ]);
    // Any change wakes the clock.
    await deployment.client.crons.update(cronId, { metadata: {} });
    await (await deployment.worker.take()).succeed({ cron: true });
    const [delivered] = await receiver.received(path);
    expect(delivered?.body).toMatchObject({ status: 'success', metadata: { cron_id: cronId }, values: { cron: true } });
    await deployment.client.crons.delete(cronId);
  });
});

describe('a webhook that may not be reached', () => {
  it.each([
    ['http://127.0.0.2/in', 'Webhook host blocked: localhost address'],
    ['http://[::1]:2024/in', 'Webhook host blocked: localhost address'],
    ['http://169.254.169.254/latest', 'Webhook host blocked: metadata address'],
    ['http://10.0.0.1/', 'Webhook host blocked: private address'],
    ['ftp://example.com/', 'Webhook URL must begin with https:// or http://'],
    ['nonsense', 'Webhook URL is not valid'],
    ['//example.com/x', 'Webhook URL is not valid'],
    ['/in', 'Webhook URL is a path, and the project has no app of its own (http.app) to send it to'],
  ])('%s is refused before the run is created', async (webhook, detail) => {
    const { thread_id: threadId } = await deployment.client.threads.create();
    const body = { assistant_id: 'echo', input: {}, webhook };
    expect(await post(`/threads/${threadId}/runs`, body)).toEqual({ status: 422, body: { detail } });
    expect(await deployment.client.runs.list(threadId)).toEqual([]);
    expect(await post('/runs/batch', [{ ...body, webhook: undefined }, body])).toEqual({
      status: 422,
      body: { detail },
    });
    const cron = { ...body, schedule: '0 0 1 1 *' };
    expect(await post('/runs/crons', cron)).toEqual({ status: 422, body: { detail } });
    expect(await post(`/threads/${threadId}/runs/crons`, cron)).toEqual({ status: 422, body: { detail } });
  });

  it('is refused when a cron is changed to it', async () => {
    const { cron_id: cronId } = await deployment.client.crons.create('echo', { schedule: '0 0 1 1 *', input: {} });
    const response = await fetch(`${deployment.url}/runs/crons/${cronId}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ webhook: 'http://[::1]/' }),
    });
    expect(response.status).toBe(422);
  });
});

it('the log of a run without a webhook is empty, and there is none of a run that does not exist', async () => {
  const { thread_id: threadId } = await deployment.client.threads.create();
  const run = await deployment.client.runs.create(threadId, 'echo', { input: {}, afterSeconds: 600 });
  expect(await log(threadId, run.run_id)).toEqual({ status: 200, body: [] });
  expect((await log(threadId, randomUUID())).status).toBe(404);
});

describe('a project with more settings for webhooks', () => {
  let other: TestDeployment;
  beforeAll(async () => {
    const webhooks = {
      default_url: receiver.url('/default'),
      payload_fields: ['status', 'values'],
      on_refused: 'accept',
    };
    other = await startDeployment({
      env: { LANGGRAPH_WEBHOOKS: JSON.stringify(webhooks) },
    });
  });
  afterAll(() => other?.close());

  it('names the receivers of runs that name none, and the fields they get', async () => {
    const { thread_id: threadId } = await other.client.threads.create();
    await other.client.runs.create(threadId, 'echo', { input: {} });
    await (await other.worker.take()).succeed({ n: 1 });
    const [delivered] = await receiver.received('/default');
    expect(delivered?.body).toEqual({ status: 'success', values: { n: 1 } });
  });

  it('may accept runs whose webhook is refused; the refusal is in their log from the start', async () => {
    const { thread_id: threadId } = await other.client.threads.create();
    const webhook = 'http://10.0.0.1/in?token=secret';
    const { run_id: runId } = await other.client.runs.create(threadId, 'echo', { input: {}, webhook });
    const response = await fetch(`${other.url}/threads/${threadId}/runs/${runId}/webhook-deliveries`);
    expect(await response.json()).toMatchObject([
      {
        url: 'http://10.0.0.1/in',
        status: 'refused',
        attempts: [{ status_code: null, error: 'Webhook host blocked: private address' }],
        next_attempt_at: null,
      },
    ]);
    await (await other.worker.take()).succeed({});
  });

  it('has its webhooks sent by another process when the one that was sending dies', async () => {
    const { path, webhook } = place();
    receiver.answer(path, 'never');
    const { thread_id: threadId } = await other.client.threads.create();
    await other.client.runs.create(threadId, 'echo', { input: {}, webhook });
    await (await other.worker.take()).succeed({ n: 2 });
    const [lost] = await receiver.received(path);
    await other.service.stop({ signal: 'SIGKILL' });
    // This ends its lease.
    await other.pool.query(`UPDATE webhook_delivery SET due_at = now() WHERE status = 'pending'`);
    await other.startAnother();
    const [, delivered] = await receiver.received(path, 2);
    expect(delivered?.body).toEqual({ status: 'success', values: { n: 2 } });
    expect(delivered?.headers['webhook-id']).toBe(lost?.headers['webhook-id']);
  });
});

it('a header whose variable is not set stops the start with a sentence', async () => {
  const section = { headers: { 'x-token': template('LG_WEBHOOK_NOT_SET') } };
  const starting = startDeployment({ env: { LANGGRAPH_WEBHOOKS: JSON.stringify(section) } });
  await expect(starting).rejects.toThrow('The variable LG_WEBHOOK_NOT_SET is not set');
});
