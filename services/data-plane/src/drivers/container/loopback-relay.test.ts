import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { silentLogger } from '@runyard/service-kit';
import { waitFor } from '@runyard/test-kit';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LoopbackRelay } from './loopback-relay.ts';

/** Represents the machine's address in an engine's network. */
const own = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

const folder = mkdtempSync(join(tmpdir(), 'runyard-relay-'));
afterAll(() => rmSync(folder, { recursive: true }));
const command = join(folder, 'engine');
const closings: (() => unknown)[] = [];
let server: Server;
let endpoint: { host: string; port: number };

beforeEach(async () => {
  server = createServer({ allowHalfOpen: true }, (socket) => socket.end('answer'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  endpoint = { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
});
afterEach(() => {
  for (const close of closings.splice(0)) close();
  server.close();
  rmSync(command, { force: true });
});

function relay(subnets: string[]): LoopbackRelay {
  const found = JSON.stringify(subnets.map((Subnet) => ({ Subnet, ...(Subnet === `${own}/32` && { Gateway: own }) })));
  writeFileSync(command, `#!/bin/sh\necho '${found}'\n`, { mode: 0o755 });
  const opened = new LoopbackRelay({ command, logger: silentLogger });
  closings.push(() => opened.close());
  return opened;
}

const ask = (host: string, localAddress: string) =>
  text(connect({ host, port: endpoint.port, localAddress }).on('error', () => {}));

describe.skipIf(own === undefined)('a relay to the loopback interface', () => {
  it("forwards connections from the containers' network, and none from elsewhere", async () => {
    expect(await relay(['fd00::/64', `${own}/32`]).open([endpoint])).toBe(own);
    expect(await ask(own!, own!)).toBe('answer');
    expect(await ask(own!, '127.0.0.1')).toBe('');
  });

  it('takes over a port when the relay that has it ends', async () => {
    const first = relay([`${own}/32`]);
    await first.open([endpoint]);
    await relay([`${own}/32`]).open([endpoint]);
    first.close();
    await waitFor(async () => (await ask(own!, own!).catch(() => '')) === 'answer', { what: 'the second relay' });
  });

  it("is not opened when no server listens there, or the engine's network is on another machine", async () => {
    expect(await relay([`${own}/32`]).open([])).toBe('host-gateway');
    expect(await relay(['203.0.113.0/24']).open([endpoint])).toBe('host-gateway');
    expect(await new LoopbackRelay({ command: 'false', logger: silentLogger }).open([endpoint])).toBe('host-gateway');
  });
});
