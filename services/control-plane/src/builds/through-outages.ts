import pRetry from 'p-retry';
import { ObjectStorageUnavailableError } from '../object-storage/object-storage.ts';

/** Between two looks whether the storage is back; they grow. */
export interface OutagePauses {
  firstMs: number;
  longestMs: number;
}

export interface OutageBound {
  signal: AbortSignal;
  /** How long the storage may be away, in all. */
  limitMs: number;
  pauses: OutagePauses;
  /** Told of every look in vain. */
  say: (line: string) => void;
}

/**
 * Does work that needs the object storage, as soon as that is there, and again from its beginning when the storage went away
 * in the middle of it. What the work holds, as a turn among others, is free while the storage is waited for.
 *
 * @param check throws ObjectStorageUnavailableError while the work would be in vain
 * @throws ObjectStorageUnavailableError when the storage was away for too long; the signal's reason when that ends it; what the
 *   work throws
 */
export async function throughOutages(
  { check, work }: { check: () => Promise<unknown>; work: () => Promise<void> },
  { signal, limitMs, pauses, say }: OutageBound,
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
    if (!(error instanceof ObjectStorageUnavailableError)) return false;
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
