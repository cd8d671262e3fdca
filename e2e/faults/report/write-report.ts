import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { formatReport } from './report-page.ts';
import { reportedGoals } from './reported-goals.ts';
import { readRecordedOutcomes } from './results.ts';

export const REPORT_FILE = path.join(import.meta.dirname, '../../../docs/reliability.md');

export async function writeReport(): Promise<void> {
  await writeFile(REPORT_FILE, formatReport(reportedGoals, await readRecordedOutcomes()));
}
