import type { OutboundClient } from '@runyard/outbound';
import { allowInsecureRequests, customFetch } from 'oauth4webapi';

/** The metadata of large servers have some ten kilobytes. */
const BODY_BYTES_MAX = 1024 * 1024;
const BODYLESS = new Set([204, 205, 304]);

interface FetchRequest {
  method: string;
  headers: Record<string, string>;
  body?: unknown;
}

/**
 * Sends requests to providers through the outbound client, which restricts their addresses. Does not follow redirects.
 */
export class ProviderRequests {
  /** Limits a request from the name's resolution to the end of the answer. */
  readonly timeoutMs: number;
  readonly #outbound: OutboundClient;

  constructor(outbound: OutboundClient, timeoutMs: number) {
    this.#outbound = outbound;
    this.timeoutMs = timeoutMs;
  }

  async fetch(url: string, { method, headers, body }: FetchRequest, deadline?: AbortSignal): Promise<Response> {
    const answer = await this.#outbound.request(url, {
      method: method as 'GET' | 'POST',
      headers,
      ...(body === undefined || body === null ? {} : { body: String(body) }),
      timeoutMs: this.timeoutMs,
      maxBodyBytes: BODY_BYTES_MAX,
      ...(deadline && { signal: deadline }),
    });
    const type = answer.headers['content-type'];
    return new Response(BODYLESS.has(answer.status) ? null : new Uint8Array(answer.body), {
      status: answer.status,
      headers: typeof type === 'string' ? { 'content-type': type } : {},
    });
  }

  /** Returns the status and the `www-authenticate` header of an answer to a request without a token. */
  async challenge(url: string, accept: string, deadline: AbortSignal): Promise<{ status: number; challenge: string }> {
    const { timeoutMs } = this;
    const answer = await this.#outbound.request(url, {
      method: 'GET',
      headers: { accept },
      timeoutMs,
      signal: deadline,
    });
    return { status: answer.status, challenge: String(answer.headers['www-authenticate'] ?? '') };
  }

  /**
   * Makes options for oauth4webapi. The outbound policy, not the library, refuses `http:`. `deadline` limits several
   * requests together.
   */
  options(deadline?: AbortSignal) {
    return {
      [allowInsecureRequests]: true,
      [customFetch]: (url: string, request: FetchRequest) => this.fetch(url, request, deadline),
    };
  }
}
