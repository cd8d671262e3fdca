import type { ParityCase } from '../../framework/index.ts';
import { cases as answers } from './cron-answers.ts';
import { cases as runs } from './cron-run-fields.ts';
import { cases as when } from './cron-schedules.ts';
import { cases as searching } from './cron-search.ts';

export const CRON_CASES: { file: string; cases: ParityCase[] }[] = [
  { file: 'crons/cron-run-fields.ts', cases: runs },
  { file: 'crons/cron-schedules.ts', cases: when },
  { file: 'crons/cron-search.ts', cases: searching },
  { file: 'crons/cron-answers.ts', cases: answers },
];
