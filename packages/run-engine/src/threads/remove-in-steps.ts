/** Rows of the first step. One value may have many megabytes. */
const FIRST_STEP = 16;

/**
 * Removes rows in steps, each twice as large as the previous one, until none is left or the time is up, so that the
 * caller's locks are released soon. Returns whether none is left.
 *
 * @param removeStep removes up to `limit` rows and returns how many it found
 */
export async function removeInSteps(
  removeStep: (limit: number) => Promise<number>,
  { until }: { until: number },
): Promise<boolean> {
  for (let limit = FIRST_STEP; ; limit *= 2) {
    if ((await removeStep(limit)) < limit) return true;
    if (performance.now() >= until) return false;
  }
}

/** Milliseconds for which one transaction removes rows while it holds a thread that others may need. */
const REMOVAL_MS = 250;

export function removalDeadline(): { until: number } {
  return { until: performance.now() + REMOVAL_MS };
}
