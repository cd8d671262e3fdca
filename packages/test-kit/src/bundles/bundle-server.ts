import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Bundles } from './bundles.ts';

export interface BundleServer {
  url: string;
  /** See {@link Bundles.forget}. */
  forget(): void;
  /** Ends the server and deletes the bundles. */
  close(): Promise<void>;
}

/**
 * Serves the bundles that the test processes of one run share: `GET /<source file>` answers with the path of its
 * bundle.
 */
export async function startBundleServer(): Promise<BundleServer> {
  const bundles = new Bundles();
  const server = createServer((request, response) => {
    bundles.of(request.url?.slice(1) ?? '').then(
      (file) => response.end(file),
      (error: Error) => response.writeHead(500).end(error.message),
    );
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    forget: () => bundles.forget(),
    async close() {
      server.closeAllConnections();
      server.close();
      await bundles.remove();
    },
  };
}
