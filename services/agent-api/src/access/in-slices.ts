/** Items that one request puts at once into the queues that all requests share. */
const SLICE = 256;

/** Works in slices, so that a batch of any length leaves room for others and is not refused for its length. */
export async function inSlices<T, R>(items: T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let start = 0; start < items.length; start += SLICE) {
    results.push(...(await Promise.all(items.slice(start, start + SLICE).map(work))));
  }
  return results;
}
