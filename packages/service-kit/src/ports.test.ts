import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { freePort, isPortFree } from './ports.ts';

it('a free port is outside the range that the system assigns from', async () => {
  const range = await readFile('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').catch(() => '49152 65535');
  const first = Number(range.trim().split(/\s+/)[0]);
  for (const port of await Promise.all(Array.from({ length: 20 }, () => freePort()))) {
    expect(port).toBeGreaterThan(1_023);
    expect(port).toBeLessThan(first);
  }
});

it('two servers of a process that start late get no port of each other', async () => {
  const ports = await Promise.all(Array.from({ length: 1_000 }, () => freePort()));
  expect(new Set(ports).size).toBe(1_000);
});

it('a port that somebody listens on is not free', async () => {
  const port = await freePort();
  expect(await isPortFree(port)).toBe(true);
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  expect(await isPortFree(port)).toBe(false);
  await new Promise((resolve) => server.close(resolve));
});

it('a host that is not of this machine has no free port, and the error says so', async () => {
  await expect(freePort('192.0.2.1')).rejects.toThrow('none of 50 ports of 192.0.2.1 was free');
});
