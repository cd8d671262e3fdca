import type { Platform } from '../harness/platform.ts';

/**
 * Sends a request to a platform with its key, and returns the JSON of the answer, undefined without one.
 *
 * @throws if the answer is an error
 */
export async function askPlatform<T>(
  { url, apiKey }: Pick<Platform, 'url' | 'apiKey'>,
  method: string,
  path: string,
  body?: object,
): Promise<T> {
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  const answer = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}\n${text}`);
  return (text === '' ? undefined : JSON.parse(text)) as T;
}
