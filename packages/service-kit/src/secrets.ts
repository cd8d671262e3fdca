import { closeSync, readSync } from 'node:fs';

let read: Record<string, string> | undefined;

/**
 * Reads variables that the parent process passes on an inherited file descriptor (RUNYARD_SECRETS_FD, one JSON object
 * until end of file), so that secrets are in no environment that another process could read. It is read once and
 * closed. Where the same descriptor reports the parent's end (RUNYARD_PARENT_FD), as in a container, the object is its
 * first line and it stays open.
 */
export function readSecrets(environment: Record<string, string | undefined>): Record<string, string> {
  if (read) return read;
  const descriptor = environment.RUNYARD_SECRETS_FD;
  if (descriptor === undefined || descriptor === '') return {};
  const staysOpen = descriptor === environment.RUNYARD_PARENT_FD;
  const text = staysOpen ? readUntil(Number(descriptor), LINE_END) : readUntil(Number(descriptor));
  if (!staysOpen) closeSync(Number(descriptor));
  const parsed: unknown = JSON.parse(text);
  if (parsed === null || typeof parsed !== 'object' || Array.isArray(parsed)) {
    throw new Error('RUNYARD_SECRETS_FD must carry one JSON object.');
  }
  read = Object.fromEntries(Object.entries(parsed).map(([name, value]) => [name, asText(value)]));
  return read;
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const LINE_END = 0x0a;
/** Milliseconds between two looks at a descriptor on which nothing comes. */
const LONGEST_WAIT_MS = 25;

/** Reads a descriptor until its end, or until the byte `last`, after which nothing is written. */
function readUntil(descriptor: number, last?: number): string {
  const chunks: Buffer[] = [];
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let waitMs = 1; ; waitMs = Math.min(waitMs * 1.2, LONGEST_WAIT_MS)) {
    const chunk = Buffer.alloc(65_536);
    try {
      const length = readSync(descriptor, chunk);
      if (length === 0) break;
      chunks.push(chunk.subarray(0, length));
      if (last !== undefined && chunk[length - 1] === last) break;
    } catch (error) {
      // The parent may have opened the pipe non-blocking and not have written yet: a standby waits for minutes.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      Atomics.wait(pause, 0, 0, waitMs);
    }
  }
  return Buffer.concat(chunks).toString('utf8');
}
