import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Outcome } from '../bench/run-goal.ts';

/** The outcome of a goal at a commit. The repository has one file for each goal, and a line of it for each seed. */
export interface RecordedOutcome extends Outcome {
  commit: string;
  /** ISO date. */
  measuredAt: string;
}

const FOLDER = path.join(import.meta.dirname, '../results');

/** Writes an outcome; a later one of the same goal, language and seed replaces the earlier one. */
export async function recordOutcome(outcome: RecordedOutcome): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  const file = path.join(FOLDER, `${outcome.goal.toLowerCase()}.jsonl`);
  const others = (await readOutcomes(file)).filter(
    ({ seed, language }) => seed !== outcome.seed || language !== outcome.language,
  );
  const inOrder = [...others, outcome].sort((a, b) => a.language.localeCompare(b.language) || a.seed - b.seed);
  const lines = inOrder.map((each) => `${JSON.stringify(each)}\n`);
  await writeFile(file, lines.join(''));
}

export async function readRecordedOutcomes(): Promise<RecordedOutcome[]> {
  const names = await readdir(FOLDER).catch(() => []);
  const files = names.filter((name) => name.endsWith('.jsonl')).sort();
  return (await Promise.all(files.map((name) => readOutcomes(path.join(FOLDER, name))))).flat();
}

async function readOutcomes(file: string): Promise<RecordedOutcome[]> {
  if (!existsSync(file)) return [];
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
  // A line without a language is of graphs in JavaScript, as all were once.
  return lines.map((line) => ({ language: 'javascript', ...(JSON.parse(line) as Omit<RecordedOutcome, 'language'>) }));
}
