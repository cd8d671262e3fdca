import pRetry from 'p-retry';
import { isStorageOutage } from '../image-registry/registry-unavailable-error.ts';

/** Pauses between two checks whether the storage is available again; they grow. */
export interface OutagePauses {
  firstMs: number;
  longestMs: number;
}

export interface OutageLimits {
  signal: AbortSignal;
  /** Milliseconds that the storage may be unavailable, in total. */
  limitMs: number;
  pauses: OutagePauses;
  /** Logs every failed check. */
  say: (line: string) => void;
}

/**
 * Runs work that needs the object storage once that is available, and repeats it from its beginning when the storage
 * became unavailable during the work. The work releases what it holds, such as its slot, while the storage is awaited.
 *
 * @param check throws ObjectStorageUnavailableError while the work would be in vain
 * @throws ObjectStorageUnavailableError when the storage was unavailable for too long; the signal's reason when the
 * signal aborts; any other error of the work
 */
export async function retryDuringOutages(
  { check, work }: { check: () => Promise<unknown>; work: () => Promise<void> },
  { signal, limitMs, pauses, say }: OutageLimits,
): Promise<void> {
  let awaySince: number | undefined;
  let awayMs = 0;
  const attempt = async () => {
    await check();
    if (awaySince !== undefined) awayMs += performance.now() - awaySince;
    awaySince = undefined;
    await work();
  };
  const waitsFor = (error: Error): boolean => {
    if (!isStorageOutage(error)) return false;
    awaySince ??= performance.now();
    if (awayMs + performance.now() - awaySince >= limitMs) return false;
    say(`${error.message}: trying again`);
    return true;
  };
  await pRetry(attempt, {
    retries: Number.POSITIVE_INFINITY,
    minTimeout: pauses.firstMs,
    maxTimeout: pauses.longestMs,
    randomize: true,
    signal,
    shouldRetry: ({ error }) => waitsFor(error),
  });
}
