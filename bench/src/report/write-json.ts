import { writeFile } from 'node:fs/promises';
import { availableParallelism, loadavg } from 'node:os';
import { resolve } from 'node:path';

/**
 * Writes what was measured, with the machine it was measured on, as a JSON document. On a busy machine the numbers say
 * little, so the load average is kept with them.
 *
 * @param path relative to where npm was called; undefined writes nothing
 */
export async function writeJson(path: string | undefined, measured: object): Promise<void> {
  if (path === undefined) return;
  const machine = { processors: availableParallelism(), node: process.version, loadAverage: loadavg()[0] };
  const file = resolve(process.env.INIT_CWD ?? process.cwd(), path);
  await writeFile(file, `${JSON.stringify({ machine, ...measured }, null, 2)}\n`);
}
