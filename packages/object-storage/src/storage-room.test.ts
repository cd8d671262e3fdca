import { tmpdir } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { withDiskReserve } from './storage-room.ts';

const FOREVER_MS = 3_600_000;

it('work that fills the disk is ended when the reserve is touched, and is refused as that', async () => {
  const disk = { folder: tmpdir(), minFreeBytes: Number.MAX_SAFE_INTEGER };
  const working = withDiskReserve(new AbortController().signal, disk, (signal) =>
    pause(FOREVER_MS, undefined, { signal }),
  );
  await expect(working).rejects.toMatchObject({ status: 507, code: 'platform_storage_full' });
});

it('work that leaves the reserve as it is goes on, until its outer signal ends it', async () => {
  const outer = new AbortController();
  const disk = { folder: tmpdir(), minFreeBytes: 0 };
  const working = withDiskReserve(outer.signal, disk, (signal) => pause(FOREVER_MS, undefined, { signal }));
  await pause(600);
  outer.abort(new Error('no longer wanted'));
  await expect(working).rejects.toMatchObject({ cause: { message: 'no longer wanted' } });
  expect(await withDiskReserve(new AbortController().signal, disk, async () => 'done')).toBe('done');
});
