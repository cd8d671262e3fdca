import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { StartFailure } from '../driver.ts';

export interface CommandResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface CommandOptions {
  signal: AbortSignal;
  /** Written to its standard input: what must not stand in its arguments. */
  input?: string;
  /** Beside this process's own. */
  env?: Record<string, string>;
}

/** How long a question to an engine may take that has nothing to fetch. */
export const QUICK_MS = 30_000;

/**
 * Runs the engine's command to its end. The environment of this service, with its secrets, is not handed on.
 *
 * @throws StartFailure when there is no such command, or the signal ends it
 */
export async function runEngine(
  command: string,
  args: readonly string[],
  { signal, input = '', env = {} }: CommandOptions,
): Promise<CommandResult> {
  const child = spawn(command, args, {
    env: { ...engineEnvironment(process.env), ...env },
    signal,
    killSignal: 'SIGKILL',
  });
  child.stdin.on('error', () => undefined); // It may end without reading.
  child.stdin.end(input);
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code));
  });
  try {
    const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
    return { code, stdout, stderr };
  } catch (error) {
    if (signal.aborted)
      throw new StartFailure(`\`${command} ${args.find((arg) => !arg.startsWith('-'))}\` was not done in time`);
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new StartFailure(noEngine(command, 'not found'));
    throw error;
  }
}

/** What is told where images cannot be run. */
export function noEngine(command: string, reason: string): string {
  return `images need a container engine, and \`${command}\` does not reach one on this machine: ${lastLine(reason)}`;
}

export function lastLine(output: string): string {
  return output.trim().split('\n').at(-1)?.trim() ?? '';
}

const HANDED_ON = ['PATH', 'HOME', 'XDG_RUNTIME_DIR', 'TMPDIR'];
const HANDED_ON_PREFIXES = ['DOCKER_', 'CONTAINER_', 'PODMAN_'];

/** What the engine's command needs of this machine to find its engine. */
export function engineEnvironment(own: Record<string, string | undefined>): Record<string, string> {
  const isHandedOn = (name: string) =>
    HANDED_ON.includes(name) || HANDED_ON_PREFIXES.some((prefix) => name.startsWith(prefix));
  return Object.fromEntries(
    Object.entries(own).filter((entry): entry is [string, string] => entry[1] !== undefined && isHandedOn(entry[0])),
  );
}
