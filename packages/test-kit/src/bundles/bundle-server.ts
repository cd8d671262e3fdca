import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ServiceBundles } from './service-bundles.ts';

export interface BundleServer {
  url: string;
  /** See {@link ServiceBundles.forget}. */
  forget(): void;
  /** Ends it and removes the bundles. */
  close(): Promise<void>;
}

/** Gives the test processes of one run the bundles they share: `GET /<service>` answers with the path of its main file. */
export async function startBundleServer(): Promise<BundleServer> {
  const bundles = new ServiceBundles();
  const server = createServer((request, response) => {
    bundles.mainOf(request.url?.slice(1) ?? '').then(
      (main) => response.end(main),
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
