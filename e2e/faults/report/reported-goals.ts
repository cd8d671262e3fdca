import type { Goal } from '../bench/goal.ts';
import { goals } from '../goals/index.ts';
import { createSoakGoal, PROMISED } from '../soak/soak-goal.ts';

/**
 * All goals of docs/reliability.md: those of the bench, and the one that takes an hour and has a command of its own.
 */
export const reportedGoals: readonly Goal[] = [...goals, createSoakGoal(PROMISED)];
