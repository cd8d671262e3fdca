import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readNumber } from '../number-flags.ts';
import { writeJson } from '../report/write-json.ts';
import type { QueryTimes } from './measure-queries.ts';
import { runScale } from './run-scale.ts';

/** States of the one long thread. */
const LONG_HISTORY = 10_000;

/** Runs `npm run bench -- scale`: fills a database of its own, measures each kind of query, and prints a table. */
export async function runScaleCommand(
  args: string[],
  { repository, project, say }: { repository: string; project: string; say: (line: string) => void },
): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { threads: { type: 'string', default: '1000000' }, json: { type: 'string' } },
  });
  const threads = readNumber('threads', values.threads);
  const entry = join(repository, 'services/agent-api/dist/main.js');
  const times = await runScale({ threads, longHistory: LONG_HISTORY, entry, project, say });
  await writeJson(values.json, { threads, times });
  process.stdout.write(`\n${table(times)}\n`);
}

function table(times: QueryTimes[]): string {
  const width = Math.max(...times.map(({ name }) => name.length));
  const cell = (ms: number) => ms.toFixed(1).padStart(8);
  return [
    `${'milliseconds'.padEnd(width)}${['p50', 'p95', 'worst'].map((title) => title.padStart(8)).join('')}`,
    ...times.map(
      ({ name, p50Ms, p95Ms, worstMs }) => `${name.padEnd(width)}${[p50Ms, p95Ms, worstMs].map(cell).join('')}`,
    ),
  ].join('\n');
}
