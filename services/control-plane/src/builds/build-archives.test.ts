import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { InsufficientStorageError } from '@runyard/service-kit';
import { expect, it, onTestFinished } from 'vitest';
import { BuildArchives } from './build-archives.ts';

const MEBIBYTE = 1024 * 1024;

/** Sends an archive to a server that has so many bytes of room. Returns how receiving it failed. */
async function send(
  archive: Uint8Array<ArrayBuffer> | ReadableStream,
  { roomBytes, minFreeBytes = 0 }: { roomBytes: number; minFreeBytes?: number },
): Promise<unknown> {
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
    disk: { folder, minFreeBytes },
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
  const request: RequestInit & { duplex: 'half' } = { method: 'PUT', body: archive, duplex: 'half' };
  await fetch(url, request).catch(() => undefined);
  expect(await readdir(folder)).toEqual([]);
  return outcome;
}

it('an archive takes no more than the room that the storage limits leave, and is refused as that', async () => {
  expect(await send(new Uint8Array(6 * MEBIBYTE), { roomBytes: 2 * MEBIBYTE })).toMatchObject({ status: 507 });
  expect(await send(new Uint8Array(6 * MEBIBYTE), { roomBytes: 1024 * MEBIBYTE })).toBe(true);
  expect(await send(new Uint8Array(9 * MEBIBYTE), { roomBytes: 1024 * MEBIBYTE })).toMatchObject({ status: 413 });
});

it('an archive ends when the disk with it has less than its reserve, whoever takes the rest', async () => {
  async function* slowly() {
    for (;;) {
      yield Buffer.alloc(1024);
      await pause(20);
    }
  }
  const room = { roomBytes: 1024 * MEBIBYTE, minFreeBytes: Number.MAX_SAFE_INTEGER };
  expect(await send(Readable.toWeb(Readable.from(slowly())) as ReadableStream, room)).toMatchObject({ status: 507 });
});
