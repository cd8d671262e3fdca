import type { Readable, Writable } from 'node:stream';

/** What a command sees of the world outside. */
export interface Surroundings {
  cwd: string;
  env: Record<string, string | undefined>;
  stdin: Readable & { isTTY?: boolean };
  stdout: OutputStream;
  stderr: OutputStream;
  /** How often the platform is asked how far it is, milliseconds. */
  pollMs: number;
  /** Aborts, with an `Interruption`, when the person or the system wants the command to end. */
  interrupted: AbortSignal;
}

export type OutputStream = Writable & { isTTY?: boolean; hasColors?(): boolean };
