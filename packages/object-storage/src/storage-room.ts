import { statfs } from 'node:fs/promises';
import { withWatcher } from '@runyard/deadline';
import { InsufficientStorageError } from '@runyard/service-kit';

/** Bytes of a deployment, of all of its workspace, and of all of the platform. */
export interface StorageSums {
  deployment: number;
  workspace: number;
  platform: number;
}

/** Bytes that may be stored at most. */
export type StorageMaxima = StorageSums | (Omit<StorageSums, 'platform'> & { platform: null });

/** The number of bytes that may still be stored, and the error for more. */
export interface Room {
  /** May be negative. */
  bytes: number;
  refusal: InsufficientStorageError;
}

/** The disk with a folder, and the bytes of it that have to stay free. */
export interface DiskReserve {
  folder: string;
  minFreeBytes: number;
}

/**
 * Returns the smallest room that the limits leave. Concurrent uploads may exceed a limit together, unless the caller counts
 * what they receive as stored.
 *
 * @param limits null for what only the disk limits
 */
export async function findRoom(
  limits: { stored: StorageSums; max: StorageMaxima } | null,
  { folder, minFreeBytes }: DiskReserve,
): Promise<Room> {
  const rooms = [{ bytes: (await freeBytes(folder)) - minFreeBytes, refusal: platformFull() }];
  if (limits) {
    const { stored, max } = limits;
    rooms.push(roomBelow(max.deployment, stored.deployment, 'sources, builds and images of this deployment'));
    rooms.push(roomBelow(max.workspace, stored.workspace, 'sources, builds and images of this workspace'));
    // The message does not tell how much others store.
    if (max.platform !== null) rooms.push({ bytes: max.platform - stored.platform, refusal: platformFull() });
  }
  return rooms.reduce((narrowest, room) => (room.bytes < narrowest.bytes ? room : narrowest));
}

/** Milliseconds between looks at the free bytes of a disk that is written to. */
const LOOK_MS = 250;

/**
 * Runs work that writes to the disk, with a signal that aborts when `outer` does, or when less than the reserve is free:
 * writers of one moment, each with the room that there was, may take it several times.
 *
 * @throws InsufficientStorageError when the reserve was touched
 */
export async function withDiskReserve<T>(
  outer: AbortSignal,
  { folder, minFreeBytes }: DiskReserve,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const refusal = platformFull();
  const watch = (end: (reason: Error) => void) => {
    const look = async () => {
      if ((await freeBytes(folder)) < minFreeBytes) end(refusal);
    };
    // A failed look is repeated at the next interval.
    const timer = setInterval(() => void look().catch(() => undefined), LOOK_MS);
    return () => clearInterval(timer);
  };
  return withWatcher(outer, watch, async (signal) => {
    try {
      return await work(signal);
    } catch (error) {
      throw signal.reason === refusal ? refusal : error;
    }
  });
}

export function addSums(one: StorageSums, other: StorageSums): StorageSums {
  return {
    deployment: one.deployment + other.deployment,
    workspace: one.workspace + other.workspace,
    platform: one.platform + other.platform,
  };
}

/** Returns the free bytes of the folder's disk that this service may use. */
async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

function roomBelow(max: number, stored: number, what: string): Room {
  const message = `There is no room for it: ${what} take ${stored} bytes, of ${max} that they may.`;
  return { bytes: max - stored, refusal: new InsufficientStorageError(message, { code: 'storage_quota_exceeded' }) };
}

function platformFull(): InsufficientStorageError {
  return new InsufficientStorageError('There is no room for it: the storage of the platform is full.', {
    code: 'platform_storage_full',
  });
}
