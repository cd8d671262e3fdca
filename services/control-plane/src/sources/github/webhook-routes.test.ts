import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { Cipher } from '@runyard/encryption';
import { createApp, createContext, listen } from '@runyard/service-kit';
import { waitFor } from '@runyard/test-kit';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { PrismaClient } from '../../generated/client.ts';
import { webhookRoutes } from './webhook-routes.ts';
import { GithubWebhooks } from './webhooks.ts';

const MEBIBYTE = 1024 * 1024;
const SECRET = 'the secret of the webhook';
const id = randomUUID();
let url: string;
let stop: () => Promise<void>;

/** The process has room for one MiB of deliveries. */
beforeEach(async () => {
  const context = createContext('test', {
    LOG_LEVEL: 'silent',
    processMetrics: false,
    HTTP_MAX_BODY_BYTES_IN_FLIGHT: 8 * MEBIBYTE,
  });
  stop = () => context.lifecycle.stop('test');
  const cipher = new Cipher(randomBytes(32).toString('base64'));
  const encryptedSecret = cipher.encrypt(SECRET, `deployment/${id}/github-webhook`);
  const prisma = {
    githubWebhook: {
      findUnique: async ({ where }: { where: { deploymentId: string } }) =>
        where.deploymentId === id ? { encryptedSecret } : null,
    },
    deployment: { findFirst: async () => null },
  } as unknown as PrismaClient;
  const webhooks = new GithubWebhooks({ prisma, cipher, publicUrl: url, createRevision: async () => null });
  const app = createApp({
    context,
    principal: { authenticate: () => Promise.reject(new Error('nobody is asked')) },
    operations: webhookRoutes(webhooks),
  });
  ({ url } = await listen(app, { host: '127.0.0.1', port: 0, context }));
});
afterEach(() => stop());

const pathOf = (deploymentId: string) => `${url}/v1/integrations/github/webhooks/${deploymentId}`;
const headersFor = (signature: string) => ({ 'x-hub-signature-256': signature });
const WRONG = `sha256=${'0'.repeat(64)}`;

async function deliver(body: string, signature: string, deploymentId = id) {
  const answer = await fetch(pathOf(deploymentId), { method: 'POST', body, headers: headersFor(signature) });
  return { status: answer.status, retryAfter: answer.headers.get('retry-after'), ...((await answer.json()) as object) };
}

it('unchecked deliveries take little memory together, and a single one as much as it needs', async () => {
  const sending = request(pathOf(id), { method: 'POST', headers: headersFor(WRONG) });
  sending.on('error', () => undefined).write('x'.repeat(MEBIBYTE - 1000));
  const small = '{"a":"delivery that is longer than the rest of the room"}'.padEnd(2000);
  const refused = await waitFor(async () => {
    const answer = await deliver(small, WRONG);
    return answer.status === 503 ? answer : null;
  });
  expect(refused).toMatchObject({ retryAfter: '1', detail: 'Too much is being received at the moment' });
  sending.destroy();

  const large = JSON.stringify({ text: 'x'.repeat(2 * MEBIBYTE) });
  const signature = `sha256=${createHmac('sha256', SECRET).update(large).digest('hex')}`;
  await waitFor(async () => (await deliver(large, signature)).status === 200);
});

it('a delivery for no webhook takes as long as any other, and no memory', async () => {
  const sending = request(pathOf(id), { method: 'POST', headers: headersFor(WRONG) });
  sending.on('error', () => undefined).write('x'.repeat(MEBIBYTE - 1000));
  await waitFor(async () => (await deliver('x'.repeat(2000), WRONG)).status === 503);
  const answer = await deliver('x'.repeat(MEBIBYTE), WRONG, randomUUID());
  expect(answer).toMatchObject({ status: 401, detail: 'The signature does not match' });
  sending.destroy();
});

it.each(['nonsense', 'sha256=12', `sha1=${'0'.repeat(64)}`])(
  'an unsigned delivery (%s) is refused before its body is read',
  async (signature) => {
    const sending = request(pathOf(id), {
      method: 'POST',
      headers: { ...headersFor(signature), 'content-length': String(MEBIBYTE) },
    });
    const status = new Promise((resolve) => sending.on('response', (answer) => resolve(answer.statusCode)));
    sending.on('error', () => undefined).flushHeaders();
    expect(await status).toBe(401);
    sending.destroy();
  },
);
