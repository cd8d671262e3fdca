import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { BuildError } from '@runyard/deployments';
import { eachLine } from '@runyard/revision-logs';
import type { BuildUser } from './build-users.ts';
import { type KernelLimits, withKernelLimits } from './kernel-limits.ts';

export interface BuildCommand {
  /** A command line for `/bin/sh`. */
  command: string;
  cwd: string;
  /** The whole environment: the command inherits nothing. */
  env: Record<string, string>;
  /** The user that runs the command, and nothing else. Default: this service's user. */
  user?: BuildUser | null;
  onLine(line: string, stream: 'stdout' | 'stderr'): void;
  /** Ends the command and every process it started. */
  signal: AbortSignal;
  /** Null: those of this process alone. */
  limits: KernelLimits | null;
  /** Is called with the process that leads the command's group. */
  onSpawn?: (pid: number) => void;
}

/**
 * Leads a process group that contains the command. Descriptor 3 is a pipe that nobody writes to. It closes when this
 * service ends, in whatever way; then the whole group is killed, including the guard.
 */
const GUARD = `
( read -r nothing <&3; kill -KILL 0 ) &
watcher=$!
sh -c "$1" 3<&- &
wait $!
code=$?
kill "$watcher" 2>/dev/null
exit "$code"
`;

/** The shell's exit code when a program does not exist. */
const NOT_FOUND = 127;
const LINE_LIMIT = 16_384;
/** Time for output that is still in the pipes when the whole group has ended. */
const LAST_LINES_MS = 1_000;

/**
 * Runs a command of a build to its end. With a user of its own, nothing that it started runs on.
 *
 * @throws BuildError when the command fails, or something goes on running; the signal's reason when the signal aborts
 */
export async function runBuildCommand(options: BuildCommand): Promise<void> {
  const { command, cwd, env, user, onLine, signal, limits, onSpawn } = options;
  signal.throwIfAborted();
  const guarded: [string, ...string[]] = ['/bin/sh', '-c', GUARD, 'runyard-build', command];
  const [program, ...args] = limits ? withKernelLimits(limits, guarded) : guarded;
  const child = spawn(program, args, {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
    ...(user && { uid: user.uid, gid: user.gid }),
  });
  if (child.pid !== undefined) onSpawn?.(child.pid);
  child.stdio[3]?.on('error', () => undefined);
  for (const stream of ['stdout', 'stderr'] as const) {
    eachLine(child[stream] as Readable, (line) => onLine(line, stream), LINE_LIMIT);
  }
  const killGroup = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // The whole group has already ended.
    }
  };
  signal.addEventListener('abort', killGroup, { once: true });
  let ended: Promise<void> | undefined;
  const closed = new Promise<number | NodeJS.Signals>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', () => {
      // Processes that the command left running would keep the output pipes open forever. Those that left the group
      // survive the kill where the command has no user of its own, so the pipes are destroyed after a while.
      killGroup();
      ended = user?.endProcesses();
      ended?.catch(() => undefined);
      const cut = setTimeout(() => {
        for (const stream of child.stdio) stream?.destroy();
      }, LAST_LINES_MS);
      child.once('close', () => clearTimeout(cut));
    });
    child.once('close', (code, endedBy) => resolve(code ?? endedBy ?? 'SIGKILL'));
  });
  const outcome = await closed.finally(() => signal.removeEventListener('abort', killGroup));
  await ended;
  signal.throwIfAborted();
  if (outcome === 0) return;
  if (outcome === NOT_FOUND) throw new BuildError(`\`${command}\` failed: a program it runs is not installed here`);
  throw new BuildError(
    typeof outcome === 'number'
      ? `\`${command}\` ended with code ${outcome}`
      : `\`${command}\` was ended by ${outcome}`,
  );
}
