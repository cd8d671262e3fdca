import {
  GITHUB_DELIVERY_BYTES_MAX,
  GITHUB_SIGNATURE_HEADER,
  getGithubWebhook,
  receiveGithubDelivery,
  replaceGithubWebhookSecret,
} from '@runyard/contracts';
import { type BoundOperation, bind, ok, readUnauthenticatedBody, streamBody } from '@runyard/service-kit';
import type { GithubWebhooks } from './webhooks.ts';

export function webhookRoutes(webhooks: GithubWebhooks): BoundOperation[] {
  return [
    bind(getGithubWebhook, async ({ caller, params }) => ok(await webhooks.settings(caller, idOf(params)), PRIVATE)),
    bind(replaceGithubWebhookSecret, async ({ caller, params }) =>
      ok(await webhooks.replaceSecret(caller, idOf(params)), PRIVATE),
    ),
    bind(receiveGithubDelivery, async ({ params, headers, raw, res }) => {
      const delivery = {
        signature: String(headers[GITHUB_SIGNATURE_HEADER]),
        // The signature covers the raw bytes.
        read: () => readUnauthenticatedBody(raw, res, GITHUB_DELIVERY_BYTES_MAX),
        pass: (take: (chunk: Buffer) => void) => streamBody(raw, GITHUB_DELIVERY_BYTES_MAX, take),
      };
      return ok(await webhooks.receive(idOf(params), delivery));
    }),
  ];
}

const PRIVATE = { 'cache-control': 'no-store' };
const idOf = (params: { deployment_id: string }) => params.deployment_id.toLowerCase();
