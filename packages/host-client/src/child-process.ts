/**
 * Starts the child: own environment, a socket on file descriptor 3 and output that is always drained.
 */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import type { Duplex, Readable } from 'node:stream';
import { readLines } from '@runyard/host-protocol';
import { type HostCommand, PULSE_FD } from './host-command.ts';
import type { HostUser } from './host-user.ts';
import type { GraphHostOptions } from './types.ts';

export interface SpawnedChild {
  process: ChildProcess;
  socket: Duplex;
  /** How many signs of life the process has given beside its connection; undefined for a host that gives none. */
  beats(): number | undefined;
  /** Resolves with the reason when the process has exited. */
  exited: Promise<string>;
}

export interface SpawnOptions {
  host: HostCommand;
  /**
   * Folder of `langgraph.json`, in which the child runs, as with the official command. The TypeScript loader reads the
   * `tsconfig.json` there, or the nearest one above it.
   */
  directory: string;
  environment: Record<string, string>;
  user: HostUser | undefined;
  wrapCommand?: GraphHostOptions['wrapCommand'];
  /**
   * Receives a line that the child printed past its own capture: from a library that writes to the descriptor, or from
   * its runtime.
   */
  onOutput(level: 'info' | 'error', line: string): void;
}

const LAST_OUTPUT_MS = 200;
/** The score goes from -1000 (never killed) to 1000 (killed first). */
const OOM_SCORE = '500';

export function spawnChild({
  host,
  directory,
  environment,
  user,
  wrapCommand = ([program = '', ...args]) => [program, ...args],
  onOutput,
}: SpawnOptions): SpawnedChild {
  const stdio: StdioOptions = ['ignore', 'pipe', 'pipe', 'pipe', ...(host.hasPulse ? (['pipe'] as const) : [])];
  const env = { ...environment, ...host.environment };
  const [program, ...args] = wrapCommand([host.command, ...host.args]);
  const child = spawn(program, args, { cwd: directory, env, stdio, ...user });
  if (child.pid !== undefined) preferForOomKill(child.pid);
  readLines(child.stdout as Readable, (line) => onOutput('info', line));
  readLines(child.stderr as Readable, (line) => onOutput('error', line));
  const pulse = host.hasPulse ? countBeats(child.stdio[PULSE_FD] as Readable) : undefined;
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(describeFailedStart(error, directory, user)));
    child.once('exit', (code, signal) => {
      const reason = signal ? `ended by ${signal}` : `exited with code ${code}`;
      // Its last lines may still be in the pipe. A process that it started may keep the pipe open for good.
      child.once('close', () => resolve(reason));
      setTimeout(() => resolve(reason), LAST_OUTPUT_MS).unref();
    });
  });
  return { process: child, socket: child.stdio[3] as unknown as Duplex, beats: () => pulse?.beats, exited };
}

function countBeats(stream: Readable): { beats: number } {
  const pulse = { beats: 0 };
  stream.on('data', (bytes: Buffer) => (pulse.beats += bytes.length));
  stream.on('error', () => undefined); // Its end is that of the process.
  return pulse;
}

function describeFailedStart(error: NodeJS.ErrnoException, directory: string, user: HostUser | undefined): string {
  if (user && error.code === 'EACCES')
    return `could not be started: the folder ${directory} is closed to user ${user.uid}`;
  return `could not be started: ${error.message}`;
}

/** Makes Linux kill the process with the project's code, not its parent, when the machine runs out of memory. */
function preferForOomKill(pid: number): void {
  writeFile(`/proc/${pid}/oom_score_adj`, OOM_SCORE).catch(() => undefined);
}
