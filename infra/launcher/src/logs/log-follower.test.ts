import { appendFileSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '@runyard/test-kit';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { LogFollower } from './log-follower.ts';

let folder: string;
let follower: LogFollower;
let lines: string[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'runyard-logs-'));
  lines = [];
  mkdirSync(join(folder, 'one/first'), { recursive: true });
  writeFileSync(join(folder, 'one/first/deploy-1.jsonl'), 'before\n');
  writeFileSync(join(folder, 'one/first/deploy-0.jsonl'), 'over\n');
  utimesSync(join(folder, 'one/first/deploy-0.jsonl'), 1, 1);
  follower = new LogFollower(folder, 60_000, (line) => lines.push(line));
  await follower.ready();
});
afterEach(async () => {
  await follower.close();
  rmSync(folder, { recursive: true });
});

it('lines that are appended are passed on once and whole, those of new files too', async () => {
  const file = join(folder, 'one/first/deploy-1.jsonl');
  appendFileSync(file, 'one\nhal');
  await waitFor(() => lines.length === 1);
  appendFileSync(file, 'f grü');
  appendFileSync(file, 'ße\n');
  await waitFor(() => lines.length === 2);
  mkdirSync(join(folder, 'one/second'));
  writeFileSync(join(folder, 'one/second/deploy-2.jsonl'), 'new\n');
  await waitFor(() => lines.length === 3);
  expect(lines).toEqual(['one', 'half grüße', 'new']);
});

it('much that was written at once comes whole, and other files are not logs', async () => {
  writeFileSync(join(folder, 'one/state.json'), 'x\n');
  appendFileSync(join(folder, 'one/first/deploy-1.jsonl'), `${'y'.repeat(600_000)}\nlast\n`);
  await waitFor(() => lines.length === 2);
  expect([lines[0]?.length, lines[1]]).toEqual([600_000, 'last']);
});
