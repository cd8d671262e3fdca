import { createHash } from 'node:crypto';

/** The only form of digests that content is kept under. */
export const DIGEST = /^sha256:[0-9a-f]{64}$/;

export function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}
