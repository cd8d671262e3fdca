import { withEnd } from '@runyard/deadline';
import { freeBytes } from '../storage-quota/storage-quota.ts';
import { BuildFailure } from './build-failure.ts';

export interface DiskBound {
  folder: string;
  /** Of the disk with the folder. */
  minFreeBytes: number;
}

const LOOK_MS = 500;

/**
 * Does the work with a signal that aborts when `outer` does, or when the disk is nearly full: a build writes whatever its
 * commands please, and everything else on the disk needs room too.
 *
 * @throws BuildFailure when the disk is nearly full, also before the work is begun
 */
export async function withFreeDisk<T>(
  outer: AbortSignal,
  { folder, minFreeBytes }: DiskBound,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const isNearlyFull = async () => (await freeBytes(folder)) < minFreeBytes;
  const nearlyFull = () => new BuildFailure('The disk of the platform is nearly full: nothing is built');
  if (await isNearlyFull()) throw nearlyFull();
  const watch = (end: (reason: Error) => void) => {
    const look = async () => {
      if (await isNearlyFull()) end(nearlyFull());
    };
    // What cannot be looked at now is looked at again.
    const timer = setInterval(() => void look().catch(() => undefined), LOOK_MS);
    return () => clearInterval(timer);
  };
  return withEnd(outer, watch, work);
}
