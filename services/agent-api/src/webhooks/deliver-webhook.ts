import { EncryptionError, KeyUnavailableError } from '@runyard/encryption';
import type { OutboundRequest, OutboundResponse } from '@runyard/outbound';
import { OutboundRefusedError } from '@runyard/outbound';
import type { ClaimedWebhook, PushDelivery, WebhookContent, WebhookOutcome } from '@runyard/run-engine';
import { isWorthRetrying, MAX_ATTEMPTS, pauseAfter, postponeFor, retryAfterMs } from './retry-plan.ts';
import { traceHeaders } from './trace-headers.ts';
import { webhookBody } from './webhook-body.ts';
import type { WebhookSettings } from './webhook-settings.ts';
import { signatureHeaders } from './webhook-signature.ts';

/** Milliseconds that a receiver may take for one try. */
export const TIMEOUT_MS = 10_000;

/** Sends a request: to an outside receiver, or to the project's own app. */
export type SendRequest = (
  url: string,
  request: OutboundRequest,
) => Promise<Pick<OutboundResponse, 'status' | 'headers'>>;

/** Makes the content of a push notification; its headers say what it is, and carry the receiver's credentials. */
export type PushContent = (
  content: WebhookContent,
  push: PushDelivery,
) => { headers: Record<string, string>; body: Buffer };

export interface DeliveryOptions {
  settings: Pick<WebhookSettings, 'headers' | 'fields' | 'signingKeys'>;
  send: SendRequest;
  pushContent: PushContent;
  /** Aborts when the service stops. */
  signal: AbortSignal;
  timeoutMs?: number;
}

export type DeliveryResult = WebhookOutcome & {
  /** `postponed`: nothing could be sent for the moment, and that counts as no try. */
  kind: 'delivered' | 'retried' | 'failed' | 'refused' | 'postponed';
  /** Why there was nothing to send. */
  cause?: unknown;
};

/** Makes one try and returns its outcome; never throws. */
export async function deliverWebhook(webhook: ClaimedWebhook, options: DeliveryOptions): Promise<DeliveryResult> {
  const startedAt = new Date();
  const began = performance.now();
  const result = (
    kind: DeliveryResult['kind'],
    { statusCode = null, error = null, retryInMs = null }: Partial<WebhookOutcome> = {},
  ): DeliveryResult => {
    const { deliveryId, attempt } = webhook;
    const durationMs = Math.round(performance.now() - began);
    return { kind, deliveryId, attempt, startedAt, durationMs, statusCode, error, retryInMs };
  };
  const retryOrFail = (error: string, about: { statusCode?: number; askedMs?: number } = {}) => {
    const retryInMs = pauseAfter(webhook.attempt, about.askedMs);
    const statusCode = about.statusCode ?? null;
    return result(retryInMs === null ? 'failed' : 'retried', { error, statusCode, retryInMs });
  };
  // The sending process died during each of the tries before.
  if (webhook.attempt > MAX_ATTEMPTS) return result('failed', { error: `Given up after ${MAX_ATTEMPTS} tries` });
  let content: WebhookContent;
  try {
    content = await webhook.readContent();
  } catch (cause) {
    const error = 'What is to be sent cannot be decrypted';
    if (isDamaged(cause)) return { ...retryOrFail(error), cause };
    const retryInMs = postponeFor(webhook.waitedMs);
    return { ...result(retryInMs === null ? 'failed' : 'postponed', { error, retryInMs }), cause };
  }
  try {
    const request = requestOf(webhook, content, { ...options, sentAt: startedAt });
    const { status: statusCode, headers } = await options.send(webhook.url, request);
    if (statusCode >= 200 && statusCode < 300) return result('delivered', { statusCode });
    const error = statusCode < 400 ? `HTTP ${statusCode}; redirects are not followed` : `HTTP ${statusCode}`;
    if (!isWorthRetrying(statusCode)) return result('failed', { statusCode, error });
    return retryOrFail(error, { statusCode, askedMs: retryAfterMs(headers['retry-after'], new Date()) });
  } catch (error) {
    if (error instanceof OutboundRefusedError) return result('refused', { error: error.message });
    return retryOrFail(describe(error, options.timeoutMs ?? TIMEOUT_MS));
  }
}

function requestOf(
  { deliveryId }: ClaimedWebhook,
  content: WebhookContent,
  { settings, pushContent, signal, timeoutMs = TIMEOUT_MS, sentAt }: DeliveryOptions & { sentAt: Date },
): OutboundRequest {
  const { headers, body } = content.push
    ? pushContent(content, content.push)
    : {
        headers: { 'content-type': 'application/json' },
        body: webhookBody(content, settings.fields, sentAt),
      };
  return {
    method: 'POST',
    headers: {
      'user-agent': 'Runyard-Webhooks',
      ...traceHeaders(content),
      ...lowerCase(settings.headers),
      ...headers,
      ...signatureHeaders({ id: deliveryId, time: sentAt, body }, settings.signingKeys),
    },
    body,
    timeoutMs,
    signal,
  };
}

/** Returns whether the key is there, and the data is not what it encrypted. */
function isDamaged(cause: unknown): boolean {
  return cause instanceof EncryptionError && !(cause instanceof KeyUnavailableError);
}

/** Lets headers of a notification replace those of the project whatever their case. */
function lowerCase(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** Describes a failure to those who see the run, without revealing what a name resolves to. */
function describe(error: unknown, timeoutMs: number): string {
  const { name, code } = error as { name?: string; code?: unknown };
  if (name === 'TimeoutError') return `No answer within ${timeoutMs / 1000} s`;
  const known = typeof code === 'string' ? code : codeOf((error as { cause?: unknown }).cause);
  return known === undefined ? 'The connection failed' : `The connection failed: ${known}`;
}

function codeOf(cause: unknown): string | undefined {
  const code = (cause as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}
