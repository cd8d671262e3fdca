import type { ParityCase } from '../../framework/index.ts';
import { cases as cancelling } from './cancelling.ts';
import { cases as feedback } from './feedback.ts';
import { cases as refusals } from './refusals.ts';
import { cases as howARunGoes } from './run-execution.ts';
import { cases as whatARunGets } from './run-fields.ts';
import { cases as readingRuns } from './run-reads.ts';

/** Cases of runs and their feedback, with the file that holds them. */
export const RUN_CASES: { file: string; cases: ParityCase[] }[] = [
  { file: 'runs/run-fields.ts', cases: whatARunGets },
  { file: 'runs/run-execution.ts', cases: howARunGoes },
  { file: 'runs/run-reads.ts', cases: readingRuns },
  { file: 'runs/cancelling.ts', cases: cancelling },
  { file: 'runs/refusals.ts', cases: refusals },
  { file: 'runs/feedback.ts', cases: feedback },
];
