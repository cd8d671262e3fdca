/** Matches are counted exactly up to this number; beyond it a total says only that there is more. */
export const EXACT_TOTAL_MAX = 10_000;

export interface Page<T> {
  rows: T[];
  total: number;
  /** The offset of the next page; undefined on the last. */
  next: number | undefined;
}

/**
 * Builds one page with its total. `found` holds up to one row more than the page, which shows whether another page
 * follows; `counted` is the number of matches, counted no further than EXACT_TOTAL_MAX + 1.
 *
 * @param length how many there were where some were left out, because they would be too much for one page
 */
export function toPage<T>(
  found: T[],
  range: { limit: number; offset: number },
  counted: number,
  length = found.length,
): Page<T> {
  const rows = found.slice(0, range.limit);
  const hasMore = length > rows.length;
  const end = range.offset + rows.length;
  return {
    rows,
    total: counted <= EXACT_TOTAL_MAX ? counted : hasMore ? end + 1 : end,
    next: hasMore ? end : undefined,
  };
}

/** Returns the number of matches when the page itself shows it, else undefined. */
export function totalIfKnown(found: { length: number }, range: { limit: number; offset: number }): number | undefined {
  if (found.length > range.limit) return undefined;
  return found.length > 0 || range.offset === 0 ? range.offset + found.length : undefined;
}

export function paginationHeaders(page: Page<unknown>): Record<string, string> {
  return {
    'x-pagination-total': String(page.total),
    ...(page.next === undefined ? {} : { 'x-pagination-next': String(page.next) }),
  };
}
