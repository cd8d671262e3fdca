import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InsufficientStorageError } from '@runyard/service-kit';
import { expect, it, onTestFinished } from 'vitest';
import { BuildArchives } from './build-archives.ts';

const MEBIBYTE = 1024 * 1024;

/** Sends an archive to a server that has so many bytes of room. Returns how receiving it failed. */
async function send(bytes: number, { roomBytes }: { roomBytes: number }): Promise<unknown> {
  const folder = await mkdtemp(join(tmpdir(), 'runyard-archives-'));
  const archives = new BuildArchives({
    objects: { put: async () => undefined } as never,
    pool: { query: async () => ({ rows: [] }) } as never,
    quota: {
      findRoom: async () => ({
        bytes: roomBytes,
        refusal: new InsufficientStorageError('no room', { code: 'storage_quota_exceeded' }),
      }),
    },
    temporaryFolder: folder,
    limitBytes: 8 * MEBIBYTE,
    timeoutMs: 60_000,
  });
  let outcome: unknown;
  const receive = (req: IncomingMessage) =>
    archives.receive({ deploymentId: 'd', key: 'k' }, req, async () => true).catch((error: unknown) => error);
  const server = createServer(async (req, res) => {
    outcome = await receive(req);
    res.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await rm(folder, { recursive: true });
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await fetch(url, { method: 'PUT', body: Buffer.alloc(bytes) }).catch(() => undefined);
  expect(await readdir(folder)).toEqual([]);
  return outcome;
}

it('an archive takes no more than the room that the storage limits leave, and is refused as that', async () => {
  expect(await send(6 * MEBIBYTE, { roomBytes: 2 * MEBIBYTE })).toMatchObject({ status: 507 });
  expect(await send(6 * MEBIBYTE, { roomBytes: 1024 * MEBIBYTE })).toBe(true);
  expect(await send(9 * MEBIBYTE, { roomBytes: 1024 * MEBIBYTE })).toMatchObject({ status: 413 });
});
