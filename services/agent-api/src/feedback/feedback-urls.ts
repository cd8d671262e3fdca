import type { IncomingHttpHeaders } from 'node:http';
import type { FeedbackTokens } from './feedback-tokens.ts';

/** URLs by feedback key, as clients are answered. */
export type FeedbackUrls = Record<string, string>;

/** A URL for each key, under the address by which the client has reached the server: through the gateway or directly. */
export function feedbackUrls(
  tokens: Pick<FeedbackTokens, 'issue'>,
  { runId, keys, headers }: { runId: string; keys: readonly string[]; headers: IncomingHttpHeaders },
): FeedbackUrls {
  const address = addressOf(headers);
  return Object.fromEntries(keys.map((key) => [key, `${address}/feedback/tokens/${tokens.issue({ runId, key })}`]));
}

/** The keys a request names, repeated or comma-separated, with those the run was created with. */
export function feedbackKeys(created: unknown, asked: string | string[] | undefined): string[] {
  const inQuery = [asked ?? []].flat().flatMap((text) => text.split(',').map((key) => key.trim()));
  return [...new Set([...(Array.isArray(created) ? created.map(String) : []), ...inQuery.filter((key) => key !== '')])];
}

function addressOf(headers: IncomingHttpHeaders): string {
  const protocol = first(headers['x-forwarded-proto']) ?? 'http';
  const host = first(headers['x-forwarded-host']) ?? headers.host ?? 'localhost';
  return `${protocol}://${host}${first(headers['x-forwarded-prefix']) ?? ''}`;
}

function first(value: string | string[] | undefined): string | undefined {
  return (Array.isArray(value) ? value[0] : value)?.split(',')[0]?.trim();
}
