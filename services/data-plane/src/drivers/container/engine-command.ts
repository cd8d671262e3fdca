import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { RevisionStartError } from '@runyard/deployments';

export interface CommandResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface CommandOptions {
  signal: AbortSignal;
  /** Written to standard input, for what must not be visible in arguments. */
  input?: string;
  /** Added to the environment of the command. */
  env?: Record<string, string>;
}

/** Milliseconds that an engine command may take that fetches nothing. */
export const QUICK_MS = 30_000;

/**
 * Runs the engine's command to its end. It does not inherit this service's environment, which has secrets.
 *
 * @throws RevisionStartError when there is no such command, or the signal aborts
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
  child.stdin.on('error', () => undefined); // The command may end without reading its input.
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
      throw new RevisionStartError(`\`${command} ${args.find((arg) => !arg.startsWith('-'))}\` was not done in time`);
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new RevisionStartError(describeMissingEngine(command, 'not found'));
    throw error;
  }
}

/** Returns the message for a machine without a container engine. */
export function describeMissingEngine(command: string, reason: string): string {
  return `images need a container engine, and \`${command}\` does not reach one on this machine: ${lastLine(reason)}`;
}

export function lastLine(output: string): string {
  return output.trim().split('\n').at(-1)?.trim() ?? '';
}

const INHERITED = ['PATH', 'HOME', 'XDG_RUNTIME_DIR', 'TMPDIR'];
const INHERITED_PREFIXES = ['DOCKER_', 'CONTAINER_', 'PODMAN_'];

/** Returns the variables with which the engine's command finds its engine. */
export function engineEnvironment(own: Record<string, string | undefined>): Record<string, string> {
  const isHandedOn = (name: string) =>
    INHERITED.includes(name) || INHERITED_PREFIXES.some((prefix) => name.startsWith(prefix));
  return Object.fromEntries(
    Object.entries(own).filter((entry): entry is [string, string] => entry[1] !== undefined && isHandedOn(entry[0])),
  );
}
