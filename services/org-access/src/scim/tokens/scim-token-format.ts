import { randomBytes } from 'node:crypto';

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

/** Shortens a token to what identifies it in a list: `ryscim_3f2a...91bc`. */
export function shortenScimToken(token: string): string {
  return `${token.slice(0, PREFIX.length + 4)}...${token.slice(-4)}`;
}
