import type { IncomingHttpHeaders } from 'node:http';
import { requestBaseUrl } from '../http/base-url.ts';
import type { FeedbackTokens } from './feedback-tokens.ts';

/** URLs by feedback key, as clients are answered. */
export type FeedbackUrls = Record<string, string>;

/**
 * Returns a URL for each key, under the address by which the client reached the server: through the gateway or
 * directly.
 */
export function feedbackUrls(
  tokens: Pick<FeedbackTokens, 'issue'>,
  { runId, keys, headers }: { runId: string; keys: readonly string[]; headers: IncomingHttpHeaders },
): FeedbackUrls {
  const address = requestBaseUrl(headers);
  return Object.fromEntries(keys.map((key) => [key, `${address}/feedback/tokens/${tokens.issue({ runId, key })}`]));
}

/** Returns the keys that a request names, repeated or comma-separated, with those the run was created with. */
export function feedbackKeys(created: unknown, asked: string | string[] | undefined): string[] {
  const inQuery = [asked ?? []].flat().flatMap((text) => text.split(',').map((key) => key.trim()));
  return [...new Set([...(Array.isArray(created) ? created.map(String) : []), ...inQuery.filter((key) => key !== '')])];
}
