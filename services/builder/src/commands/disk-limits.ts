import { execFile } from 'node:child_process';
import { statfs } from 'node:fs/promises';
import { promisify } from 'node:util';
import { withWatcher } from '@runyard/deadline';
import { BuildError } from '@runyard/deployments';

/** Room on a disk that files take, or may take. */
export interface DiskUse {
  bytes: number;
  /** Files, folders and links. */
  files: number;
}

export interface DiskLimits {
  /** A folder of the disk that is written to. */
  folder: string;
  /** Free bytes that the disk with the folder must keep. */
  minFreeBytes: number;
  /** Limits of the build's folders together. */
  max: DiskUse;
  /** The folders of the build. */
  own: readonly string[];
}

const LOOK_MS = 500;
/** Looks between two counts of the build's files, which read each name of them. */
const LOOKS_PER_COUNT = 10;
const DU_OUTPUT_BYTES = 1024 * 1024;
/** The part of the files that a disk can have which must stay free. Some disks have no such number. */
const MIN_FREE_FILES = 1 / 50;

/**
 * Runs the work with a signal that aborts when `outer` does, when the disk is nearly full, or when the build has more
 * bytes or files than it may: commands of a build can write any number, and the rest of the platform needs room on the
 * disk too. Files are counted only while the disk has lost as much room as the build may take, by whomever.
 *
 * @throws BuildError when the disk is nearly full, also before the work begins, or the build is too large
 */
export async function withDiskLimits<T>(
  outer: AbortSignal,
  { folder, minFreeBytes, max, own }: DiskLimits,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const nearlyFull = () => new BuildError('The disk of the platform is nearly full: nothing is built');
  const before = await readFree(folder, minFreeBytes);
  if (before.isNearlyFull) throw nearlyFull();
  // The caches of earlier builds count too.
  const atStart = await countUse(own);
  const watch = (end: (reason: Error) => void) => {
    let looks = 0;
    let isCounting = false;
    const look = async () => {
      const free = await readFree(folder, minFreeBytes);
      if (free.isNearlyFull) return end(nearlyFull());
      looks += 1;
      const mayExceed = KINDS.some((kind) => before[kind] - free[kind] >= max[kind] - atStart[kind]);
      if (!mayExceed || isCounting || looks % LOOKS_PER_COUNT !== 0) return;
      isCounting = true;
      const use = await countUse(own).finally(() => {
        isCounting = false;
      });
      const exceeded = KINDS.find((kind) => use[kind] > max[kind]);
      if (exceeded) end(new BuildError(`The build has more than ${max[exceeded]} ${exceeded} on the disk`));
    };
    // A failed look is repeated at the next interval.
    const timer = setInterval(() => void look().catch(() => undefined), LOOK_MS);
    return () => clearInterval(timer);
  };
  return withWatcher(outer, watch, work);
}

const KINDS = ['bytes', 'files'] as const satisfies (keyof DiskUse)[];

/** Returns what this service may still use of the folder's disk. */
async function readFree(folder: string, minFreeBytes: number): Promise<DiskUse & { isNearlyFull: boolean }> {
  const { bavail, bsize, files, ffree } = await statfs(folder);
  const bytes = bavail * bsize;
  return { bytes, files: ffree, isNearlyFull: bytes < minFreeBytes || ffree < files * MIN_FREE_FILES };
}

/** Returns what the folders take on the disk. Links are not followed. A missing folder takes nothing. */
async function countUse(folders: readonly string[]): Promise<DiskUse> {
  const [kibibytes, files] = await Promise.all([sumUp(['-sk'], folders), sumUp(['-s', '--inodes'], folders)]);
  return { bytes: kibibytes * 1024, files };
}

async function sumUp(options: string[], folders: readonly string[]): Promise<number> {
  // It fails, and has counted, when files vanish meanwhile.
  const { stdout } = await promisify(execFile)('du', ['-c', ...options, '--', ...folders], {
    maxBuffer: DU_OUTPUT_BYTES,
  }).catch((error: { stdout?: string }) => ({ stdout: error.stdout ?? '' }));
  return Number(/^(\d+)\s+total$/m.exec(stdout)?.[1] ?? 0);
}
