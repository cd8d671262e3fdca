import type { JournalRun, RunSearchPage } from '@runyard/contracts';

export interface Merged {
  pages: RunSearchPage[];
  /** Runs of the fresh page that are not in the pages, as one reads further down. */
  newer: number;
}

/**
 * Merges a first page that was asked for again into the pages that are shown. Who reads at the top sees it as it is; for
 * whoever has scrolled, the runs that are shown change in place, and none comes, goes or moves.
 */
export function mergeFirstPage(pages: readonly RunSearchPage[], fresh: RunSearchPage, isAtTop: boolean): Merged {
  const known = new Set(pages.flatMap(({ runs }) => runs.map(({ run_id: id }) => id)));
  const added = fresh.runs.filter(({ run_id: id }) => !known.has(id));
  const last = fresh.runs.at(-1);
  if (!isAtTop) {
    const byId = new Map(fresh.runs.map((run) => [run.run_id, run]));
    const patched = pages.map((page) => ({ ...page, runs: page.runs.map((run) => byId.get(run.run_id) ?? run) }));
    return { pages: patched, newer: added.length };
  }
  const isJoined = added.length < fresh.runs.length;
  if (pages.length < 2 || !isJoined || !last || fresh.next_cursor === null) return { pages: [fresh], newer: 0 };
  const older = pages.map((page) => ({ ...page, runs: page.runs.filter((run) => isOlder(run, last)) }));
  return {
    pages: [fresh, ...older.filter(({ runs }, index) => runs.length > 0 || index === older.length - 1)],
    newer: 0,
  };
}

/** Ids of runs are in the order of their creation, which is the order of a search. */
function isOlder(run: JournalRun, than: JournalRun): boolean {
  return run.run_id < than.run_id;
}
