import type { Operation } from '../../operation.ts';
import { watchRunChanges } from './changes.ts';
import { countRunFacets, getRunOfHistory, searchRuns } from './runs.ts';
import { readRunStatistics } from './statistics.ts';
import { exportUsage, readUsage } from './usage.ts';

/** Every operation of run-history. */
export const runHistoryOperations: readonly Operation[] = [
  searchRuns,
  countRunFacets,
  readRunStatistics,
  readUsage,
  exportUsage,
  watchRunChanges,
  getRunOfHistory,
];

export * from './changes.ts';
export * from './runs.ts';
export * from './statistics.ts';
export * from './usage.ts';
