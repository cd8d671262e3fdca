import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** Clients recognize the kinds of keys by these prefixes. */
const KEY_PREFIXES = { service_key: 'lsv2_sk_', personal_token: 'lsv2_pt_' } as const;
export type KeyKind = keyof typeof KEY_PREFIXES;

const RANDOM_BYTES = 24;
const CHECKSUM_HEX_DIGITS = 10;
const FORM = /^(lsv2_(?:sk|pt)_[0-9a-f]{48})_([0-9a-f]{10})$/;

/**
 * Makes a key: its prefix, 192 random bits and a checksum over both. With the checksum, a mistyped key is refused
 * without a query, and secret scanners recognize real keys.
 */
export function makeKey(kind: KeyKind): string {
  const body = KEY_PREFIXES[kind] + randomBytes(RANDOM_BYTES).toString('hex');
  return `${body}_${checksum(body)}`;
}

/** Returns whether the text has the form and the checksum of a key. */
export function isWellFormedKey(text: string): boolean {
  const [, body, sum] = FORM.exec(text) ?? [];
  return body !== undefined && sum !== undefined && timingSafeEqual(Buffer.from(checksum(body)), Buffer.from(sum));
}

/** Shortens a key to what identifies it in a list: `lsv2_sk_3f2a...91bc`. */
export function shortenKey(key: string): string {
  const prefixLength = KEY_PREFIXES.service_key.length;
  return `${key.slice(0, prefixLength + 4)}...${key.slice(-4)}`;
}

function checksum(body: string): string {
  return createHash('sha256').update('runyard key checksum').update(body).digest('hex').slice(0, CHECKSUM_HEX_DIGITS);
}
