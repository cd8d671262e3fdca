import { execFile } from 'node:child_process';

export interface ProgramResult {
  ok: boolean;
  stdout: string;
  stderr: string;
}

/** Runs a program to its end and says how it went; a program that is missing or takes too long is `ok: false`. */
export function runProgram(
  command: string,
  args: string[],
  options: { env?: NodeJS.ProcessEnv; cwd?: string; timeoutMs?: number; uid?: number; gid?: number } = {},
): Promise<ProgramResult> {
  return new Promise((resolve) => {
    const { timeoutMs = 0, ...rest } = options;
    execFile(command, args, { ...rest, timeout: timeoutMs, maxBuffer: 16 * 1024 * 1024 }, (error, stdout, stderr) => {
      resolve({ ok: !error, stdout, stderr: stderr || (error?.message ?? '') });
    });
  });
}
