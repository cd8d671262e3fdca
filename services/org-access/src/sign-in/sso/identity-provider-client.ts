import { isIP } from 'node:net';
import { OutboundClient, OutboundPolicy, OutboundRefusedError } from '@runyard/outbound';

const TIMEOUT_MS = 10_000;
const BODY_MAX_BYTES = 2_000_000;

/**
 * Sends requests to identity providers: by HTTPS, or by plain HTTP to this machine alone. Addresses that are not public
 * are reached only in networks that the operator allows.
 */
export class IdentityProviderClient {
  readonly #policy: OutboundPolicy;
  readonly #client: OutboundClient;

  /** @throws Error that names an invalid network */
  constructor(options: { allowedNetworks: string[] }) {
    this.#policy = new OutboundPolicy({ subject: 'Identity provider', allowedNetworks: options.allowedNetworks });
    this.#client = new OutboundClient(this.#policy);
  }

  /** Checks a URL as far as can be done without a request. @throws OutboundRefusedError */
  checkUrl(text: string): URL {
    const url = this.#policy.checkUrl(text);
    if (url.protocol !== 'https:' && !isLoopback(url))
      throw new OutboundRefusedError('Identity provider URL must begin with https://');
    return url;
  }

  /** Works like `fetch` for the libraries of the protocols. Redirects are returned, not followed. */
  readonly fetch = async (
    input: string | URL | Request,
    init: { method?: string; headers?: unknown; body?: unknown; signal?: AbortSignal | null } = {},
  ): Promise<Response> => {
    const url = this.checkUrl(String(input instanceof Request ? input.url : input)).href;
    const { status, headers, body } = await this.#client.request(url, {
      method: (init.method ?? 'GET') as 'GET',
      headers: Object.fromEntries(new Headers(init.headers as Record<string, string>)),
      ...(init.body != null && { body: String(init.body) }),
      timeoutMs: TIMEOUT_MS,
      maxBodyBytes: BODY_MAX_BYTES,
      ...(init.signal && { signal: init.signal }),
    });
    const type = headers['content-type'];
    const isWithoutBody = status === 204 || status === 304;
    return new Response(isWithoutBody ? null : new Uint8Array(body), {
      status,
      headers: { 'content-type': String(type ?? '') },
    });
  };

  /** Reads a document. @throws Error when it is not answered with 200 */
  async read(url: string): Promise<string> {
    const response = await this.fetch(url);
    if (response.status !== 200) throw new Error(`${url} answered ${response.status}`);
    return response.text();
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}

function isLoopback({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
