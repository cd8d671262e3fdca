import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { readFlags } from '../flags.ts';
import { examine, formatEvents, formatReport } from './doctor.ts';

/**
 * Prints whether a start with these flags would find what it needs.
 *
 * @param args flags of a start, and `--json`
 * @returns the exit code: 0 when it would
 * @throws InfrastructureError when a flag is wrong
 */
export async function runDoctor(args: string[], repository: string, out: Writable): Promise<number> {
  const { project: folder, ...flags } = readFlags(
    args.filter((arg) => arg !== '--json'),
    repository,
  );
  const report = await examine({ ...flags, folder, environment: process.env });
  const text = args.includes('--json') ? formatEvents(report) : formatReport(report);
  // The process ends with this, and a pipe takes its time.
  if (!out.write(text)) await once(out, 'drain');
  return report.ready ? 0 : 1;
}
