import { withWatcher } from '@runyard/deadline';
import { BuildError } from '@runyard/deployments';
import { freeBytes } from '@runyard/object-storage';

export interface DiskLimit {
  folder: string;
  /** Free bytes that the disk with the folder must keep. */
  minFreeBytes: number;
}

const LOOK_MS = 500;

/**
 * Runs the work with a signal that aborts when `outer` does or when the disk is nearly full: the commands of a build
 * can write any amount, and the rest of the platform needs room on the disk too.
 *
 * @throws BuildError when the disk is nearly full, also before the work begins
 */
export async function withFreeDisk<T>(
  outer: AbortSignal,
  { folder, minFreeBytes }: DiskLimit,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const isNearlyFull = async () => (await freeBytes(folder)) < minFreeBytes;
  const nearlyFull = () => new BuildError('The disk of the platform is nearly full: nothing is built');
  if (await isNearlyFull()) throw nearlyFull();
  const watch = (end: (reason: Error) => void) => {
    const look = async () => {
      if (await isNearlyFull()) end(nearlyFull());
    };
    // A failed look is repeated at the next interval.
    const timer = setInterval(() => void look().catch(() => undefined), LOOK_MS);
    return () => clearInterval(timer);
  };
  return withWatcher(outer, watch, work);
}
