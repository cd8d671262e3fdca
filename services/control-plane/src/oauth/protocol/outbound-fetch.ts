import type { OutboundClient } from '@runyard/outbound';
import { allowInsecureRequests, customFetch } from 'oauth4webapi';

/** From the name's resolution to the end of the answer. */
const ANSWER_MS = 10_000;
/** Metadata of large servers has some ten kilobytes. */
const BODY_BYTES_MAX = 1024 * 1024;
const BODYLESS = new Set([204, 205, 304]);

interface FetchRequest {
  method: string;
  headers: Record<string, string>;
  body?: unknown;
}

/** A request through the outbound client, which decides what may be reached. Redirects are not followed. */
export async function outboundFetch(
  outbound: OutboundClient,
  url: string,
  { method, headers, body }: FetchRequest,
  deadline?: AbortSignal,
): Promise<Response> {
  const answer = await outbound.request(url, {
    method: method as 'GET' | 'POST',
    headers,
    ...(body === undefined || body === null ? {} : { body: String(body) }),
    timeoutMs: ANSWER_MS,
    maxBodyBytes: BODY_BYTES_MAX,
    ...(deadline && { signal: deadline }),
  });
  const type = answer.headers['content-type'];
  return new Response(BODYLESS.has(answer.status) ? null : answer.body, {
    status: answer.status,
    headers: typeof type === 'string' ? { 'content-type': type } : {},
  });
}

/** How oauth4webapi sends its requests. `http:` is the outbound policy's to refuse. `deadline` bounds several together. */
export function requestOptions(outbound: OutboundClient, deadline?: AbortSignal) {
  return {
    [allowInsecureRequests]: true,
    [customFetch]: (url: string, request: FetchRequest) => outboundFetch(outbound, url, request, deadline),
  };
}
