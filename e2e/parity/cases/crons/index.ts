import type { ParityCase } from '../../framework/index.ts';
import { cases as answers } from './cron-answers.ts';
import { cases as searching } from './searching-crons.ts';
import { cases as runs } from './what-its-runs-get.ts';
import { cases as when } from './when-crons-fire.ts';

export const CRON_CASES: { file: string; cases: ParityCase[] }[] = [
  { file: 'crons/what-its-runs-get.ts', cases: runs },
  { file: 'crons/when-crons-fire.ts', cases: when },
  { file: 'crons/searching-crons.ts', cases: searching },
  { file: 'crons/cron-answers.ts', cases: answers },
];
