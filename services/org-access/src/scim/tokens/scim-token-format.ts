import { createHash, randomBytes } from 'node:crypto';

/** Begins every SCIM token, so that it is told apart from a key, and secret scanners recognize it. */
const PREFIX = 'ryscim_';
const RANDOM_BYTES = 32;
const FORM = /^ryscim_[0-9a-f]{64}$/;

/** Makes a token: its prefix and 256 random bits. */
export function makeScimToken(): string {
  return PREFIX + randomBytes(RANDOM_BYTES).toString('hex');
}

export function isWellFormedScimToken(text: string): boolean {
  return FORM.test(text);
}

/** Returns the hash that is stored and looked up. The token is random, so a fast hash without salt is safe. */
export function hashScimToken(token: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(createHash('sha256').update(token).digest());
}

/** Shortens a token to what identifies it in a list: `ryscim_3f2a...91bc`. */
export function shortenScimToken(token: string): string {
  return `${token.slice(0, PREFIX.length + 4)}...${token.slice(-4)}`;
}
