import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Goal } from '../bench/goal.ts';
import { reportPage } from './report-page.ts';
import { recordedOutcomes } from './results.ts';

export const REPORT_FILE = path.join(import.meta.dirname, '../../../docs/reliability.md');

export async function writeReport(goals: readonly Goal[]): Promise<void> {
  await writeFile(REPORT_FILE, reportPage(goals, await recordedOutcomes()));
}
