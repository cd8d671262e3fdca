import { setTimeout as delay } from 'node:timers/promises';

const CALLERS = 4;
const PAUSE_MS = 100;

/** Calls without a pause of more than a moment while something else happens; tells how many succeeded, and what failed. */
export async function underLoad(
  call: () => Promise<unknown>,
  work: () => Promise<unknown>,
): Promise<{ succeeded: number; failures: string[] }> {
  const outcome = { succeeded: 0, failures: [] as string[] };
  let isOver = false;
  const callers = Array.from({ length: CALLERS }, async () => {
    while (!isOver) {
      await call().then(
        () => (outcome.succeeded += 1),
        (error: unknown) => outcome.failures.push(`${new Date().toISOString()} ${error}`),
      );
      await delay(PAUSE_MS);
    }
  });
  try {
    await work();
  } finally {
    isOver = true;
    await Promise.all(callers);
  }
  return outcome;
}
