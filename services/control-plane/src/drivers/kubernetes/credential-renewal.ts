import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@runyard/service-kit';

export interface RenewalTimes {
  everyMs: number;
  /** After a renewal that failed. */
  againMs: number;
}

/** A pull credential is good for much longer. */
const TIMES: RenewalTimes = { everyMs: 24 * 60 * 60 * 1000, againMs: 10 * 60 * 1000 };

export interface CredentialRenewal {
  /** Makes the next one known to the cluster. */
  renew(signal: AbortSignal): Promise<void>;
  /** The one that the cluster has is not a fresh one. */
  isDue: boolean;
}

/** Sees to it that nodes can pull the image of a revision at any time, until the signal says that others do, or nobody has to. */
export async function keepRenewed(
  { renew, isDue }: CredentialRenewal,
  { signal, logger }: { signal: AbortSignal; logger: Logger },
  { everyMs, againMs } = TIMES,
): Promise<void> {
  let inMs = isDue ? againMs : everyMs;
  for (;;) {
    await pause(inMs, undefined, { signal, ref: false }).catch(() => undefined);
    if (signal.aborted) return;
    inMs = everyMs;
    await renew(signal).catch((error: unknown) => {
      inMs = againMs;
      if (!signal.aborted) logger.warn('a pull credential could not be renewed, trying again', { error });
    });
  }
}
