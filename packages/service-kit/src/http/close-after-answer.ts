import type { ServerResponse } from 'node:http';

/**
 * Sets `Connection: close` on answers with a length. An answer without one would look complete when the connection
 * closes: clients that use the fetch of Node 20 take the received part of such an answer for all of it, even when it
 * was cut. After those, the server closes the connection when it accepts no more requests.
 */
export function closeAfterAnswer(res: ServerResponse): void {
  const writeHead = res.writeHead.bind(res) as (...args: unknown[]) => ServerResponse;
  res.setHeader('connection', 'close');
  res.writeHead = ((...args: unknown[]) => {
    const headers = args.at(-1);
    const given = typeof headers === 'object' && headers !== null ? Object.keys(headers) : [];
    const hasLength = given.includes('content-length') || res.hasHeader('content-length');
    if (!hasLength && args[0] !== 204 && args[0] !== 304) res.removeHeader('connection');
    return writeHead(...args);
  }) as typeof res.writeHead;
}
