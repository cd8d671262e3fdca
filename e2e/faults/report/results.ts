import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Outcome } from '../bench/run-goal.ts';

/** The outcome of a goal at a commit. The repository has one file for each goal and seed. */
export interface RecordedOutcome extends Outcome {
  commit: string;
  /** ISO date. */
  measuredAt: string;
}

const FOLDER = path.join(import.meta.dirname, '../results');

/** Writes an outcome; a later one of the same goal and seed replaces the earlier one. */
export async function recordOutcome(outcome: RecordedOutcome): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  const file = path.join(FOLDER, `${outcome.goal.toLowerCase()}-${outcome.seed}.json`);
  await writeFile(file, `${JSON.stringify(outcome, null, 2)}\n`);
}

export async function readRecordedOutcomes(): Promise<RecordedOutcome[]> {
  const names = await readdir(FOLDER).catch(() => []);
  const files = names.filter((name) => name.endsWith('.json')).sort();
  return Promise.all(
    files.map(async (name) => JSON.parse(await readFile(path.join(FOLDER, name), 'utf8')) as RecordedOutcome),
  );
}
