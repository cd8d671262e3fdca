import pRetry from 'p-retry';
import { isStorageOutage } from '../image-registry/storage-outage.ts';

/** Pauses between two checks whether the storage is available again; they grow. */
export interface OutagePauses {
  firstMs: number;
  longestMs: number;
}

export interface OutageLimits {
  signal: AbortSignal;
  /** Milliseconds from the first outage on in which the work has to be done. */
  limitMs: number;
  pauses: OutagePauses;
  /** Logs every failed check. */
  say: (line: string) => void;
}

/**
 * Runs work that needs the object storage once that is available, and repeats it from its beginning when the storage
 * became unavailable during the work. A storage that answers the checks and fails in every work is given up, too.
 *
 * @param check throws ObjectStorageUnavailableError while the work would be in vain
 * @throws ObjectStorageUnavailableError when the storage was unavailable for too long; the signal's reason when the
 * signal aborts; any other error of the work
 */
export async function retryDuringOutages<Result>(
  { check, work }: { check: () => Promise<unknown>; work: () => Promise<Result> },
  { signal, limitMs, pauses, say }: OutageLimits,
): Promise<Result> {
  let lostSince: number | undefined;
  const attempt = async () => {
    await check();
    return work();
  };
  const waitsFor = (error: Error): boolean => {
    if (!isStorageOutage(error)) return false;
    lostSince ??= performance.now();
    if (performance.now() - lostSince >= limitMs) return false;
    say(`${error.message}: trying again`);
    return true;
  };
  return pRetry(attempt, {
    retries: Number.POSITIVE_INFINITY,
    minTimeout: pauses.firstMs,
    maxTimeout: pauses.longestMs,
    randomize: true,
    signal,
    shouldRetry: ({ error }) => waitsFor(error),
  });
}
