import { type ChildProcess, execFile } from 'node:child_process';

export interface ProgramResult {
  ok: boolean;
  stdout: string;
  stderr: string;
}

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill();
});

/** Runs a program to its end and returns the outcome; a program that is missing or takes too long is `ok: false`. */
export function runProgram(
  command: string,
  args: string[],
  options: { env?: NodeJS.ProcessEnv; cwd?: string; timeoutMs?: number; uid?: number; gid?: number } = {},
): Promise<ProgramResult> {
  return new Promise((resolve) => {
    const { timeoutMs = 0, ...rest } = options;
    const child = execFile(
      command,
      args,
      { ...rest, timeout: timeoutMs, maxBuffer: 16 * 1024 * 1024 },
      (error, stdout, stderr) => {
        running.delete(child);
        resolve({ ok: !error, stdout, stderr: stderr || (error?.message ?? '') });
      },
    );
    running.add(child);
  });
}
