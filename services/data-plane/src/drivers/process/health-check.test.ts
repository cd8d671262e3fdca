import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { checkHealth } from './health-check.ts';

it('an answer without an end is read no further than its reason is shown', async () => {
  let sent = 0;
  const server = createServer((_req, res) => {
    res.writeHead(500);
    const write = () => {
      if (res.destroyed) return;
      sent += 100_000;
      res.write('x'.repeat(100_000), () => setImmediate(write));
    };
    write();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const why = await checkHealth(`http://127.0.0.1:${port}`, new AbortController().signal);
  expect(why).toBe(`it answers 500: ${'x'.repeat(300)}`);
  expect(sent).toBeLessThan(20_000_000);
  server.closeAllConnections();
  server.close();
});
