import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { reportPage } from './report-page.ts';
import { reportedGoals } from './reported-goals.ts';
import { recordedOutcomes } from './results.ts';
import { REPORT_FILE } from './write-report.ts';

test('docs/reliability.md says what the recorded results say', async () => {
  expect(await readFile(REPORT_FILE, 'utf8')).toBe(reportPage(reportedGoals, await recordedOutcomes()));
});
