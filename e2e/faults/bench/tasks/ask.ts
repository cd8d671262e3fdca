const ANSWERED_WITHIN_MS = 20_000;

export interface Asked {
  headers: Record<string, string>;
  /** Sent as JSON by POST; without it the request is a GET. */
  body?: unknown;
}

/** Returns the response to a request; undefined when there is none. Never rejects. */
export async function ask(url: string, { headers, body }: Asked): Promise<Response | undefined> {
  return fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(ANSWERED_WITHIN_MS),
  }).catch(() => undefined);
}

/** Returns the body of a successful answer; undefined for any other, or none. Never rejects. */
export async function askJson(url: string, asked: Asked): Promise<unknown> {
  const response = await ask(url, asked);
  return response?.ok ? response.json().catch(() => undefined) : undefined;
}
