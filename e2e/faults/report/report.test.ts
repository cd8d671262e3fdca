import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { MeasuredSettings } from '../bench/measured-settings.ts';
import { formatReport } from './report-page.ts';
import { reportedGoals } from './reported-goals.ts';
import { type RecordedOutcome, readRecordedOutcomes } from './results.ts';
import { REPORT_FILE } from './write-report.ts';

test('docs/reliability.md matches the recorded results', async () => {
  expect(await readFile(REPORT_FILE, 'utf8')).toBe(formatReport(reportedGoals, await readRecordedOutcomes()));
});

test('a goal’s section names each setting that it gave its services, beside the shipped default', () => {
  const settings = new MeasuredSettings();
  settings.add({ WORKER_LEASE_SECONDS: '3', N_JOBS_PER_WORKER: '10', NODE_OPTIONS: '--inspect' });
  settings.add({ WORKER_LEASE_SECONDS: '60' });
  const measures = [{ what: 'runs', measured: 1, limit: 1, unit: '', samples: 1 }];
  const outcome = { goal: 'R9', seed: 1, tier: 'full', seconds: 1, measures, commit: 'c', measuredAt: 'd' } as const;
  const page = formatReport(
    reportedGoals.filter(({ id }) => id === 'R9'),
    [{ ...outcome, settings: settings.all() } as RecordedOutcome],
  );
  expect(page).toContain('differ from those that ship: `WORKER_LEASE_SECONDS` 3 or 60 (ships 10).');
});

test('each goal has the limits that were set for it', () => {
  for (const goal of reportedGoals) expect(formatReport([goal], [])).toMatch(/\nAsked for: /);
});

test('the outcomes of a goal with graphs in Python stand beside those in JavaScript, and say so', () => {
  const measures = [{ what: 'runs', measured: 1, limit: 1, unit: '', samples: 1 }];
  const outcome = {
    goal: 'R9',
    seed: 1,
    tier: 'full',
    seconds: 1,
    measures,
    settings: {},
    commit: 'c',
    measuredAt: 'd',
  };
  const page = formatReport(
    reportedGoals.filter(({ id }) => id === 'R9'),
    (['javascript', 'python'] as const).map((language) => ({ ...outcome, tier: 'full', language })),
  );
  expect(page).toContain('| 1, 1 with Python | – |');
  expect(page).toContain('| Measured | Limit | Seed 1 | Seed 1 with Python |');
});
