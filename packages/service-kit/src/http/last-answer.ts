import type { ServerResponse } from 'node:http';

/**
 * Says `Connection: close`, where the answer says how long it is. For others the close would be taken for their end: clients made
 * with the fetch of Node 20 hold whatever they have of an answer that closes its connection for all of it, also when it was cut.
 * The server closes the connection after those by itself.
 */
export function sayLast(res: ServerResponse): void {
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
