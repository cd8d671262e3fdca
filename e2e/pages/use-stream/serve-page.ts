import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { build } from 'esbuild';

/** A page of an origin of its own that shows a deployment's agents with `useStream`. */
export interface ServedPage {
  /** The address of a new conversation with an assistant. */
  addressOf(assistant: string): string;
  close(): Promise<void>;
}

/** Bundles the page as an application's build does, and serves it. */
export async function servePage(settings: { apiUrl: string; apiKey: string }): Promise<ServedPage> {
  const { outputFiles } = await build({
    entryPoints: [path.join(import.meta.dirname, 'page.jsx')],
    bundle: true,
    write: false,
    format: 'esm',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  const script = outputFiles[0]!.text;
  const html = `<!doctype html>
<html lang="en">
<title>Conversation</title>
<div id="root"></div>
<script id="settings" type="application/json">${JSON.stringify(settings)}</script>
<script type="module" src="/page.js"></script>
</html>`;
  const server = createServer(({ url }, response) => {
    const [type, body] = url === '/page.js' ? ['text/javascript', script] : ['text/html', html];
    response.setHeader('content-type', `${type}; charset=utf-8`).end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    addressOf: (assistant) => `http://127.0.0.1:${port}/?assistant=${assistant}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
