import type { Readable, Writable } from 'node:stream';

/** The environment of a command. */
export interface CommandContext {
  cwd: string;
  env: Record<string, string | undefined>;
  stdin: Readable & { isTTY?: boolean };
  stdout: OutputStream;
  stderr: OutputStream;
  /** Milliseconds between requests for a revision's progress. */
  pollMs: number;
  /** Aborts with an `Interruption` when the user or the system ends the command. */
  interrupted: AbortSignal;
}

export type OutputStream = Writable & { isTTY?: boolean; hasColors?(): boolean; columns?: number };
