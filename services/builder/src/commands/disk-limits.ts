import { execFile } from 'node:child_process';
import { statfs } from 'node:fs/promises';
import { promisify } from 'node:util';
import { withWatcher } from '@runyard/deadline';
import { BuildError } from '@runyard/deployments';

export interface DiskLimits {
  /** A folder of the disk that is written to. */
  folder: string;
  /** Free bytes that the disk with the folder must keep. */
  minFreeBytes: number;
  /** Bytes that the folders of the build may have together. */
  bytesMax: number;
  /** The folders of the build. */
  own: readonly string[];
}

const LOOK_MS = 500;
/** Looks between two counts of the build's files, which read each name of them. */
const LOOKS_PER_COUNT = 10;
const DU_OUTPUT_BYTES = 1024 * 1024;

/**
 * Runs the work with a signal that aborts when `outer` does, when the disk is nearly full, or when the build has more
 * bytes than it may: commands of a build can write any amount, and the rest of the platform needs room on the disk too.
 * Files are counted only while the disk has lost as much room as the build may take, by whomever.
 *
 * @throws BuildError when the disk is nearly full, also before the work begins, or the build is too large
 */
export async function withDiskLimits<T>(
  outer: AbortSignal,
  { folder, minFreeBytes, bytesMax, own }: DiskLimits,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const nearlyFull = () => new BuildError('The disk of the platform is nearly full: nothing is built');
  const before = await freeBytes(folder);
  if (before < minFreeBytes) throw nearlyFull();
  // The caches of earlier builds count too.
  const room = bytesMax - (await countBytes(own));
  const watch = (end: (reason: Error) => void) => {
    let looks = 0;
    let isCounting = false;
    const look = async () => {
      const free = await freeBytes(folder);
      if (free < minFreeBytes) return end(nearlyFull());
      looks += 1;
      if (before - free < room || isCounting || looks % LOOKS_PER_COUNT !== 0) return;
      isCounting = true;
      const bytes = await countBytes(own).finally(() => {
        isCounting = false;
      });
      if (bytes > bytesMax) end(new BuildError(`The build has more than ${bytesMax} bytes on the disk`));
    };
    // A failed look is repeated at the next interval.
    const timer = setInterval(() => void look().catch(() => undefined), LOOK_MS);
    return () => clearInterval(timer);
  };
  return withWatcher(outer, watch, work);
}

/** Returns the free bytes of the folder's disk that this service may use. */
async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** Returns the bytes that the folders take on the disk. Links are not followed. A missing folder has none. */
async function countBytes(folders: readonly string[]): Promise<number> {
  // It fails, and has counted, when files vanish meanwhile.
  const { stdout } = await promisify(execFile)('du', ['-skc', '--', ...folders], { maxBuffer: DU_OUTPUT_BYTES }).catch(
    (error: { stdout?: string }) => ({ stdout: error.stdout ?? '' }),
  );
  return Number(/^(\d+)\s+total$/m.exec(stdout)?.[1] ?? 0) * 1024;
}
