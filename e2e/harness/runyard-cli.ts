import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inject } from 'vitest';

const command = path.resolve(import.meta.dirname, '../../packages/cli/dist/main.js');

export interface RunningCommand {
  child: ChildProcess;
  /** Returns its output so far. */
  output(): string;
  ended: Promise<{ code: number | null; output: string }>;
}

/** Returns the platform and the key, independent of this machine's settings. */
function settings(): Record<string, string> {
  const { url, apiKey } = inject('platform');
  return { RUNYARD_URL: url, RUNYARD_API_KEY: apiKey };
}

/**
 * Starts the `runyard` command as it is published, against the platform under test.
 *
 * @param variables in place of those with the platform and the key
 */
export function startRunyard(args: string[], cwd = tmpdir(), variables = settings()): RunningCommand {
  const child = spawn(process.execPath, [command, ...args], {
    cwd,
    env: { PATH: process.env.PATH, HOME: tmpdir(), ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const ended = once(child, 'close').then(([code]) => ({ code, output }));
  return { child, output: () => output, ended };
}

export const runyard = (...args: Parameters<typeof startRunyard>) => startRunyard(...args).ended;

/** Parses the output of a command with `--json`. */
export function parseJsonLines<T>({ output }: { output: string }): T[] {
  return output
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as T);
}
