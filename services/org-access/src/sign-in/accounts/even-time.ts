import { setTimeout as sleep } from 'node:timers/promises';

/** An answer that must not tell whether there is an account takes at least this long. */
const MS_MIN = 250;

/**
 * Waits until an attempt has taken as long as all of its kind take at least, so that its time tells nothing.
 *
 * @param begun time of `performance.now()` at the begin of the attempt
 */
export async function evenTimeOut(begun: number): Promise<void> {
  await sleep(Math.max(0, MS_MIN - (performance.now() - begun)));
}
