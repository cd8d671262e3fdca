import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Answer } from './recorded-client.ts';

const FOLDER = path.join(import.meta.dirname, 'recorded');

/** Reads what the public server answered to a scenario, in order. */
export async function readRecorded(scenario: string): Promise<Answer[]> {
  const lines = (await readFile(fileOf(scenario), 'utf8')).trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Answer);
}

export async function writeRecorded(scenario: string, answers: readonly Answer[]): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  await writeFile(fileOf(scenario), answers.map((answer) => `${JSON.stringify(answer)}\n`).join(''));
}

function fileOf(scenario: string): string {
  return path.join(FOLDER, `${scenario.replaceAll(' ', '-')}.jsonl`);
}
