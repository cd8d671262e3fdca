import type { Goal } from '../bench/goal.ts';
import { goal as r01 } from './r01-killed-workers.ts';
import { goal as r04 } from './r04-redis-lost.ts';

/** All goals, in the order of their numbers. */
export const goals: readonly Goal[] = [r01, r04];
