import { createHash } from 'node:crypto';

/** Returns what stands for a session's token in this process's memory, where no token is kept. */
export function sessionDigest(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}
