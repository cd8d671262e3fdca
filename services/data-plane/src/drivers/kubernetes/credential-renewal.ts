import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@runyard/service-kit';

interface RenewalTimes {
  everyMs: number;
  /** Milliseconds until the next attempt after a failed renewal. */
  againMs: number;
}

/** Pull credentials are valid much longer than this. */
const TIMES: RenewalTimes = { everyMs: 24 * 60 * 60 * 1000, againMs: 10 * 60 * 1000 };

export interface CredentialRenewal {
  /** Applies a new credential to the cluster. */
  renew(signal: AbortSignal): Promise<void>;
  /** True when the cluster's credential is not a fresh one. */
  isDue: boolean;
}

/**
 * Renews the pull credential of a revision's image until the signal aborts, so that nodes can pull the image at any
 * time.
 */
export async function renewUntilAborted(
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
      if (!signal.aborted) logger.warn('pull credential renewal failed, will retry', { error });
    });
  }
}
