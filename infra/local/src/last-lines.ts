import { readFile } from 'node:fs/promises';

/** Returns the last lines of a log file, indented, for the end of an error message. */
export async function lastLines(path: string, count: number): Promise<string> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text
    .trimEnd()
    .split('\n')
    .slice(-count)
    .map((line) => `  ${line}`)
    .join('\n');
}
