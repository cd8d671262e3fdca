/** Rows of the first step. A value may be of many megabytes. */
const FIRST_STEP = 16;

/**
 * Removes rows in steps, each of twice as many as the one before, until none is left or the time is up, so that whoever does this
 * under a lock lets go of it soon. Answers whether none is left.
 *
 * @param removeStep removes up to so many and answers how many it found
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

/** How long one transaction removes rows while it holds a thread that somebody may ask for. */
const REMOVAL_MS = 250;

export function removalTime(): { until: number } {
  return { until: performance.now() + REMOVAL_MS };
}
