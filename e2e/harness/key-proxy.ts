import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server on this machine that passes requests on to a deployment or a platform, with a key. */
export interface KeyProxy {
  url: string;
  close(): Promise<void>;
}

/**
 * Serves clients that can be given no header: everything else of a request stays as it is, with its `Host`, and a
 * credential that it has.
 *
 * @param moved paths that stand for others, for clients that look for something at the root of a host alone
 */
export async function startKeyProxy(
  target: string,
  apiKey: string,
  moved: Readonly<Record<string, string>> = {},
): Promise<KeyProxy> {
  const { hostname, port, pathname } = new URL(target);
  const base = pathname.replace(/\/$/, '');
  const server = createServer((req, res) => {
    const { method, url } = req;
    const isNamed = 'x-api-key' in req.headers || 'authorization' in req.headers;
    const headers = isNamed ? req.headers : { ...req.headers, 'x-api-key': apiKey };
    const options = { hostname, port, path: base + (moved[url!] ?? url), method, headers };
    const sent = request(options, (answer) => {
      res.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(res);
    });
    sent.on('error', () => res.destroy());
    // A client that leaves has left the deployment too.
    res.on('close', () => sent.destroy());
    req.pipe(sent);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
