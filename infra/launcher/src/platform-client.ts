import { InfrastructureError, reasonOf } from '@runyard/local-infra';

/** Sends JSON over HTTP to one service; a refusal becomes an error that says who refused what, and why. */
export class PlatformClient {
  readonly url: string;
  readonly #headers: Record<string, string>;

  constructor(url: string, headers: Record<string, string>) {
    this.url = url;
    this.#headers = headers;
  }

  async call<T>(method: 'GET' | 'POST' | 'PATCH', path: string, body?: unknown): Promise<T> {
    const response = await fetch(this.url + path, {
      method,
      headers: { ...this.#headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(30_000),
    }).catch((error) => {
      throw new InfrastructureError(`${method} ${this.url}${path} failed: ${reasonOf(error.cause ?? error)}.`);
    });
    const text = await response.text();
    if (!response.ok)
      throw new PlatformResponseError(
        `${method} ${this.url}${path} answered ${response.status}: ${text}`,
        response.status,
      );
    return (text ? JSON.parse(text) : undefined) as T;
  }

  /** Returns the status code of a GET, or 0 when nothing answers. */
  async status(path: string): Promise<number> {
    return fetch(this.url + path, { headers: this.#headers, signal: AbortSignal.timeout(5_000) }).then(
      (response) => response.body?.cancel().then(() => response.status) ?? response.status,
      () => 0,
    );
  }
}

class PlatformResponseError extends InfrastructureError {
  override name = 'RefusedError';
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}
