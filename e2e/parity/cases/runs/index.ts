import type { ParityCase } from '../../framework/index.ts';
import { cases as cancelling } from './cancelling.ts';
import { cases as feedback } from './feedback.ts';
import { cases as howARunGoes } from './how-a-run-goes.ts';
import { cases as readingRuns } from './reading-runs.ts';
import { cases as refusals } from './refusals.ts';
import { cases as whatARunGets } from './what-a-run-gets.ts';

/** Cases of runs and their feedback, with the file that holds them. */
export const RUN_CASES: { file: string; cases: ParityCase[] }[] = [
  { file: 'runs/what-a-run-gets.ts', cases: whatARunGets },
  { file: 'runs/how-a-run-goes.ts', cases: howARunGoes },
  { file: 'runs/reading-runs.ts', cases: readingRuns },
  { file: 'runs/cancelling.ts', cases: cancelling },
  { file: 'runs/refusals.ts', cases: refusals },
  { file: 'runs/feedback.ts', cases: feedback },
];
