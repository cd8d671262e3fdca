import { randomBytes, randomUUID } from 'node:crypto';
import { EncryptionError, KeyUnavailableError } from '@runyard/encryption';
import { OutboundRefusedError, type OutboundRequest } from '@runyard/outbound';
import { WEBHOOK_FIELDS } from '@runyard/project';
import type { ClaimedWebhook, WebhookContent } from '@runyard/run-engine';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { expect, it } from 'vitest';
import { type DeliveryOptions, deliverWebhook } from './deliver-webhook.ts';
import { pauseAfter, retryAfterMs } from './retry-plan.ts';
import { webhookBody } from './webhook-body.ts';
import { keyOfSecret, signatureHeaders } from './webhook-signature.ts';

const run: WebhookContent['run'] = {
  run_id: randomUUID(),
  thread_id: randomUUID(),
  assistant_id: randomUUID(),
  status: 'success',
  metadata: { team: 'red' },
  multitask_strategy: 'enqueue',
  error: null,
  created_at: '2026-11-20T20:19:02.118+00:00',
  updated_at: '2026-11-20T20:19:03.118+00:00',
  started_at: null,
  ended_at: '2026-11-20T20:19:03.118+00:00',
};
function contentOf(overrides: Partial<WebhookContent> = {}): WebhookContent {
  const kwargs = { input: 1, config: { configurable: { a: 1 } } };
  return {
    run,
    kwargs: Buffer.from(JSON.stringify(kwargs)),
    values: Buffer.from('{"a":"\\u0000"}'),
    push: null,
    ...overrides,
  };
}
function webhook(overrides: Partial<ClaimedWebhook> = {}, content = contentOf()): ClaimedWebhook {
  return {
    deliveryId: randomUUID(),
    url: 'https://hook.test/in',
    host: 'hook.test',
    attempt: 1,
    waitedMs: 0,
    bytes: content.kwargs.byteLength,
    readContent: async () => content,
    ...overrides,
  };
}
const settings: DeliveryOptions['settings'] = { headers: {}, fields: new Set(WEBHOOK_FIELDS), signingKeys: [] };
const pushContent: DeliveryOptions['pushContent'] = () => ({
  headers: { authorization: 'Bearer own', 'content-type': 'application/a2a+json' },
  body: Buffer.from('{"task":{}}'),
});
const deliver = (send: DeliveryOptions['send'], given = webhook()) =>
  deliverWebhook(given, { settings, send, pushContent, signal: new AbortController().signal });

it.each([
  [200, 'delivered', null],
  [204, 'delivered', null],
  [302, 'failed', 'HTTP 302; redirects are not followed'],
  [400, 'failed', 'HTTP 400'],
  [404, 'failed', 'HTTP 404'],
  [408, 'retried', 'HTTP 408'],
  [410, 'failed', 'HTTP 410'],
  [429, 'retried', 'HTTP 429'],
  [500, 'retried', 'HTTP 500'],
  [503, 'retried', 'HTTP 503'],
])('an answer %i counts as %s', async (status, kind, error) => {
  const result = await deliver(async () => ({ status, headers: {} }));
  expect(result).toMatchObject({ kind, error, statusCode: status, attempt: 1 });
  expect(result.retryInMs === null).toBe(kind !== 'retried');
});

it('a webhook carries the trace that the run has, and no other that its arguments mention', async () => {
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  const headersOf = async (kwargs: object) => {
    let headers: OutboundRequest['headers'];
    const send: DeliveryOptions['send'] = async (_url, request) => {
      headers = request.headers;
      return { status: 204, headers: {} };
    };
    await deliver(send, webhook({}, contentOf({ kwargs: Buffer.from(JSON.stringify(kwargs)) })));
    return headers;
  };
  const configurable = { __otel_traceparent__: traceparent, __otel_tracestate__: 'a=1' };
  expect(await headersOf({ config: { configurable } })).toMatchObject({ traceparent, tracestate: 'a=1' });
  const input = { config: { configurable }, __otel_traceparent__: traceparent };
  for (const kwargs of [{ input }, { input, config: { configurable: { __otel_traceparent__: 'no' } } }]) {
    expect(await headersOf(kwargs)).not.toHaveProperty('traceparent');
  }
});

it('timeouts and broken connections are retried and reported without addresses; a refused address is final', async () => {
  const failWith = (error: Error) => deliver(() => Promise.reject(error));
  expect(await failWith(new DOMException('x', 'TimeoutError'))).toMatchObject({
    kind: 'retried',
    error: 'No answer within 10 s',
  });
  const refused = Object.assign(new Error('connect ECONNREFUSED 10.1.2.3:80'), { code: 'ECONNREFUSED' });
  expect(await failWith(refused)).toMatchObject({ kind: 'retried', error: 'The connection failed: ECONNREFUSED' });
  expect(await failWith(new Error('odd', { cause: refused }))).toMatchObject({
    error: 'The connection failed: ECONNREFUSED',
  });
  const blocked = 'Webhook host blocked: private address';
  expect(await failWith(new OutboundRefusedError(blocked))).toMatchObject({
    kind: 'refused',
    error: blocked,
    retryInMs: null,
  });
});

it('the fourteenth try is the last', async () => {
  const down = async () => ({ status: 503, headers: {} });
  expect((await deliver(down, webhook({ attempt: 13 }))).kind).toBe('retried');
  expect((await deliver(down, webhook({ attempt: 14 }))).kind).toBe('failed');
  let asked = false;
  const recordRequest = async () => {
    asked = true;
    return { status: 200, headers: {} };
  };
  expect(await deliver(recordRequest, webhook({ attempt: 15 }))).toMatchObject({
    kind: 'failed',
    error: 'Given up after 14 tries',
  });
  expect(asked).toBe(false);
});

const UNDECRYPTABLE = 'What is to be sent cannot be decrypted';
const sendNothing: DeliveryOptions['send'] = () => Promise.reject(new Error('nothing is to be sent'));

it.each([
  ['its key is away', new KeyUnavailableError('01020304', 'the key service is away')],
  ['the database is away', new Error('Connection terminated unexpectedly')],
])(
  'content that cannot be decrypted because %s is postponed, which counts as no try, for three days',
  async (_, cause) => {
    const readContent = () => Promise.reject(cause);
    const error = UNDECRYPTABLE;
    const hours = (count: number) => webhook({ readContent, attempt: 14, waitedMs: count * 3_600_000 });
    expect(await deliver(sendNothing, hours(0))).toMatchObject({ kind: 'postponed', error, cause, retryInMs: 60_000 });
    expect(await deliver(sendNothing, hours(71))).toMatchObject({ kind: 'postponed', retryInMs: 600_000 });
    expect(await deliver(sendNothing, hours(72))).toMatchObject({ kind: 'failed', error, cause, retryInMs: null });
  },
);

it('content that was damaged is tried again like any failed try', async () => {
  const cause = new EncryptionError('Encrypted data was changed, or cut.');
  const readContent = () => Promise.reject(cause);
  expect(await deliver(sendNothing, webhook({ readContent }))).toMatchObject({
    kind: 'retried',
    error: UNDECRYPTABLE,
    cause,
  });
  expect(await deliver(sendNothing, webhook({ readContent, attempt: 14 }))).toMatchObject({ kind: 'failed' });
});

it('thirteen pauses grow from a second to twenty hours and are two days in all, and a receiver may ask for up to an hour', async () => {
  const pauses = Array.from({ length: 13 }, (_, index) => pauseAfter(index + 1, 0, () => 0.5));
  expect([pauses[0], pauses[12], pauseAfter(14)]).toEqual([1_000, 72_000_000, null]);
  const hours = pauses.reduce((sum: number, pause) => sum + pause!, 0) / 3_600_000;
  expect(Math.round(hours)).toBe(48);
  expect([...pauses].sort((a, b) => a! - b!)).toEqual(pauses);
  expect([pauseAfter(1, 0, () => 0), pauseAfter(1, 0, () => 1)]).toEqual([800, 1_200]);
  expect(pauseAfter(1, 30_000)).toBe(30_000);
  expect(pauseAfter(1, 10 ** 9)).toBe(3_600_000);
  const now = new Date('2026-11-20T20:00:00Z');
  expect(retryAfterMs('7', now)).toBe(7_000);
  expect(retryAfterMs('Fri, 20 Nov 2026 20:00:09 GMT', now)).toBe(9_000);
  expect(retryAfterMs('Fri, 20 Nov 2026 19:00:00 GMT', now)).toBe(0);
  expect(retryAfterMs('soon', now)).toBe(0);
  expect((await deliver(async () => ({ status: 429, headers: { 'retry-after': '77' } }))).retryInMs).toBe(77_000);
});

it('a request carries the headers of the project and a signature per secret that others verify', async () => {
  const secrets = [randomBytes(24), randomBytes(64)].map((key) => `whsec_${key.toString('base64')}`);
  let sent: OutboundRequest | undefined;
  const given = webhook();
  await deliverWebhook(given, {
    settings: { ...settings, headers: { 'x-team': 'red' }, signingKeys: secrets.map((secret) => keyOfSecret(secret)!) },
    pushContent,
    send: async (_, request) => {
      sent = request;
      return { status: 200, headers: {} };
    },
    signal: new AbortController().signal,
  });
  expect(sent).toMatchObject({
    method: 'POST',
    timeoutMs: 10_000,
    headers: { 'x-team': 'red', 'content-type': 'application/json', 'webhook-id': given.deliveryId },
  });
  const body = Buffer.from(sent!.body as Uint8Array).toString();
  for (const secret of secrets) expect(new Webhook(secret).verify(body, sent!.headers!)).toEqual(JSON.parse(body));
  const other = new Webhook(`whsec_${randomBytes(32).toString('base64')}`);
  expect(() => other.verify(body, sent!.headers!)).toThrow(WebhookVerificationError);
  expect(() => new Webhook(secrets[0]!).verify(`${body} `, sent!.headers!)).toThrow(WebhookVerificationError);
});

it('a push notification has a content and credentials of its own, and the signature of a webhook', async () => {
  const sent: OutboundRequest[] = [];
  const push = { taskId: randomUUID(), configId: 'c', version: '1.0', secrets: {} } as const;
  await deliverWebhook(webhook({}, contentOf({ push })), {
    settings: { ...settings, headers: { Authorization: 'Bearer of the project' }, signingKeys: [randomBytes(32)] },
    pushContent,
    send: async (_, request) => {
      sent.push(request);
      return { status: 200, headers: {} };
    },
    signal: new AbortController().signal,
  });
  expect(sent[0]?.headers).toMatchObject({
    authorization: 'Bearer own',
    'content-type': 'application/a2a+json',
    'webhook-signature': expect.stringMatching(/^v1,/),
  });
  expect(Object.keys(sent[0]!.headers!)).not.toContain('Authorization');
  expect(Buffer.from(sent[0]!.body as Uint8Array).toString()).toBe('{"task":{}}');
});

it("a signature of the specification's example equals that of its library", () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const body = Buffer.from('{"test": 2432232314}');
  const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', time: new Date(1614265330 * 1000), body };
  expect(signatureHeaders(message, [keyOfSecret(secret)!])).toEqual({
    'webhook-id': message.id,
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
  expect(signatureHeaders(message, [])['webhook-signature']).toBeUndefined();
  for (const wrong of ['', 'whsec_', 'whsec_short', 'whsec_!!!!', `whsec_${'A'.repeat(200)}`]) {
    expect(keyOfSecret(wrong)).toBeUndefined();
  }
});

it('a body is the run as it ended, with its values untouched and nothing about its caller', () => {
  const auth = {
    langgraph_auth_user: { token: 's3cret' },
    langgraph_auth_user_id: 'u',
    svc_auth_user: { token: 's3cret' },
  };
  const kwargs = { input: null, config: { configurable: { ...auth, mine: 1 }, metadata: { ...auth, note: 'n' } } };
  const body = webhookBody(
    contentOf({
      kwargs: Buffer.from(JSON.stringify(kwargs)),
      run: { ...run, status: 'error', error: { error: 'E', message: 'm' } },
    }),
    settings.fields,
    new Date('2026-11-20T21:00:00Z'),
  ).toString();
  expect(body).not.toContain('s3cret');
  expect(body).toContain('"values":{"a":"\\u0000"}');
  expect(JSON.parse(body)).toEqual({
    run_id: run.run_id,
    thread_id: run.thread_id,
    assistant_id: run.assistant_id,
    status: 'error',
    created_at: '2026-11-20T20:19:02.118000+00:00',
    updated_at: '2026-11-20T20:19:03.118000+00:00',
    metadata: { team: 'red' },
    kwargs: {
      input: null,
      config: { configurable: { mine: 1, thread_id: run.thread_id }, metadata: { note: 'n' } },
    },
    multitask_strategy: 'enqueue',
    run_started_at: null,
    run_ended_at: '2026-11-20T20:19:03.118000+00:00',
    webhook_sent_at: '2026-11-20T21:00:00.000000+00:00',
    values: { a: '\u0000' },
    error: { error: 'E', message: 'm' },
  });
});

it('a body has only the chosen fields', () => {
  expect(JSON.parse(webhookBody(contentOf(), new Set(['status', 'values']), new Date()).toString())).toEqual({
    status: 'success',
    values: { a: '\u0000' },
  });
  expect(webhookBody(contentOf(), new Set(['error']), new Date()).toString()).toBe('{}');
});
