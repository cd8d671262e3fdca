import type { PlatformPath } from './path.ts';

/** An answer of the platform that is an error, or none at all (`status` 0). */
export class PlatformError extends Error {
  override readonly name = 'PlatformError';
  readonly status: number;
  /** Seconds after which to ask again, where the platform says so. */
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, message: string, retryAfterSeconds?: number) {
    super(message);
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export interface Asked {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The workspace in which to act. */
  workspaceId?: string;
  /** Sent as JSON. */
  body?: unknown;
  /** Left out where undefined. */
  query?: Record<string, string | number | boolean | undefined>;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
}

/**
 * Asks the platform as the person who is signed in, by the same addresses as curl and the SDKs: `/v2/deployments`,
 * `/deployments/{id}/threads`, … ({@link PlatformPath}).
 *
 * @throws PlatformError; any error of `signal`
 */
export async function ask<Answer>(path: PlatformPath, asked: Asked = {}): Promise<Answer> {
  return (await askForAnswer(path, asked)).body as Answer;
}

/** The same, with the headers of the answer. @throws PlatformError; any error of `signal` */
export async function askForAnswer(
  path: PlatformPath,
  asked: Asked = {},
): Promise<{ body: unknown; headers: Headers }> {
  const response = await askForResponse(path, asked);
  const text = await response.text();
  const body = parse(text);
  if (!response.ok) throw errorOf(response, body);
  return { body, headers: response.headers };
}

/** The same, for an answer that is read as it comes. @throws PlatformError */
export async function askForStream(path: PlatformPath, asked: Asked = {}): Promise<Response> {
  const response = await askForResponse(path, asked);
  if (!response.ok) throw errorOf(response, parse(await response.text()));
  return response;
}

async function askForResponse(path: PlatformPath, asked: Asked): Promise<Response> {
  const { method = 'GET', workspaceId, body, query, headers, signal } = asked;
  const parameters = Object.entries(query ?? {}).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  const search = parameters.length > 0 ? `?${new URLSearchParams(parameters)}` : '';
  try {
    return await fetch(`/platform${path.text}${search}`, {
      method,
      headers: {
        accept: 'application/json',
        ...(workspaceId !== undefined && { 'x-tenant-id': workspaceId }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
      credentials: 'same-origin',
    });
  } catch {
    signal?.throwIfAborted();
    throw new PlatformError(0, 'The platform cannot be reached at the moment', 1);
  }
}

function parse(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function errorOf(response: Response, body: unknown): PlatformError {
  const seconds = Number(response.headers.get('retry-after'));
  return new PlatformError(
    response.status,
    detailOf(body) ?? `The answer has the status ${response.status}`,
    seconds || undefined,
  );
}

/** Returns the sentence in an error of any service: `{detail}` as text or a list of faults, or `{error}`. */
function detailOf(body: unknown): string | undefined {
  const { detail, error, message } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  if (Array.isArray(detail)) {
    const faults = detail as { loc?: unknown[]; msg?: string }[];
    return faults.map(({ loc, msg }) => [loc?.slice(1).join('.'), msg].filter(Boolean).join(': ')).join('; ');
  }
  return [detail, message, error].find((text): text is string => typeof text === 'string' && text !== '');
}
