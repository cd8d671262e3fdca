import pRetry from 'p-retry';
import { isStorageOutage } from '../image-registry/storage-outage.ts';

/** Pauses between two checks whether the storage is available again; they grow. */
export interface OutagePauses {
  firstMs: number;
  longestMs: number;
}

export interface OutageLimits {
  signal: AbortSignal;
  /** Milliseconds that outages may take in total, with the repeated work that ended in another one. */
  limitMs: number;
  pauses: OutagePauses;
  /** Logs every failed check. */
  say: (line: string) => void;
}

/**
 * Runs work that needs the object storage once that is available, and repeats it from its beginning when the storage
 * became unavailable during the work. The work releases what it holds, such as its slot, while the storage is awaited.
 * A storage that answers the checks and fails in every work is given up, too.
 *
 * @param check throws ObjectStorageUnavailableError while the work would be in vain
 * @param work calls its argument when it no longer waits for others
 * @throws ObjectStorageUnavailableError when the storage was unavailable for too long; the signal's reason when the
 * signal aborts; any other error of the work
 */
export async function retryDuringOutages(
  { check, work }: { check: () => Promise<unknown>; work: (onBegin: () => void) => Promise<void> },
  { signal, limitMs, pauses, say }: OutageLimits,
): Promise<void> {
  let lostSince: number | undefined;
  let lostMs = 0;
  let isRepetition = false;
  const onBegin = () => {
    if (isRepetition) lostSince = performance.now();
    isRepetition = true;
  };
  const attempt = async () => {
    await check();
    if (lostSince !== undefined) lostMs += performance.now() - lostSince;
    lostSince = undefined;
    await work(onBegin);
  };
  const waitsFor = (error: Error): boolean => {
    if (!isStorageOutage(error)) return false;
    lostSince ??= performance.now();
    if (lostMs + performance.now() - lostSince >= limitMs) return false;
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
