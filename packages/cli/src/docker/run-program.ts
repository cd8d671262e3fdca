import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export interface ProgramResult {
  /** Null when it could not be started, or was ended by a signal. */
  code: number | null;
  stdout: string;
  /** The last lines of both streams, for the user. */
  lastLines: string[];
}

const LAST_LINES = 30;

/** Runs a program to its end. An interruption is passed on to the program, which is still awaited. */
export async function runProgram(
  program: string,
  args: readonly string[],
  options: {
    env: Record<string, string | undefined>;
    interrupted: AbortSignal;
    input?: string;
    onLine?: (line: string) => void;
  },
): Promise<ProgramResult> {
  const { env, interrupted, input, onLine } = options;
  interrupted.throwIfAborted();
  const child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  const stop = () => child.kill('SIGTERM');
  interrupted.addEventListener('abort', stop, { once: true });
  let stdout = '';
  const lastLines: string[] = [];
  const keep = (line: string) => {
    lastLines.push(line);
    if (lastLines.length > LAST_LINES) lastLines.shift();
    onLine?.(line);
  };
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  createInterface({ input: child.stdout }).on('line', keep);
  createInterface({ input: child.stderr }).on('line', keep);
  child.stdin.on('error', () => {}); // The program may end without reading; its exit code decides.
  child.stdin.end(input ?? '');
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', (error) => {
      lastLines.push(error.message);
      resolve(null);
    });
    child.once('close', resolve);
  });
  interrupted.removeEventListener('abort', stop);
  interrupted.throwIfAborted();
  return { code, stdout, lastLines };
}
