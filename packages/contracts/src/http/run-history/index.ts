import type { Operation } from '../../operation.ts';
import { countRunFacets, getRunOfHistory, searchRuns } from './runs.ts';
import { readRunStatistics } from './statistics.ts';

/** Every operation of run-history. */
export const runHistoryOperations: readonly Operation[] = [
  searchRuns,
  countRunFacets,
  readRunStatistics,
  getRunOfHistory,
];

export * from './runs.ts';
export * from './statistics.ts';
