import { randomBytes } from 'node:crypto';

/** A secret that a test has placed, or got, with where it must not be found. */
export interface Canary {
  /** Describes how the secret travels, for the message of a failure. */
  place: string;
  value: string;
  /** True when a caller hands it over to be stored: it is in databases and Redis, and nowhere else. */
  isContent: boolean;
}

/** A place where a secret was found. */
export interface Leak {
  place: string;
  record: string;
  excerpt: string;
}

const EXCERPT_BYTES = 80;

/** Makes secrets that are easy to recognise, in whatever encoding they turn up. */
export class Canaries {
  readonly all: Canary[] = [];

  /** Returns a new random secret, of letters and digits alone: it looks the same inside JSON and URLs. */
  make(place: string, { isContent = false } = {}): string {
    // Its length is a multiple of 4, so that it is base64 as well.
    return this.add(place, `canary00${randomBytes(16).toString('hex')}`, { isContent });
  }

  /** Adds a secret that was made elsewhere. */
  add(place: string, value: string, { isContent = false } = {}): string {
    this.all.push({ place, value, isContent });
    return value;
  }

  /** Finds all secrets, plain and encoded; content is looked for only where it does not belong. */
  findIn(record: string, bytes: Buffer, { holdsContent = false } = {}): Leak[] {
    return this.all
      .filter(({ isContent }) => !(isContent && holdsContent))
      .flatMap(({ place, value }) => {
        const at = listEncodings(value)
          .map((form) => bytes.indexOf(form))
          .find((index) => index >= 0);
        if (at === undefined) return [];
        const excerpt = bytes.subarray(Math.max(0, at - EXCERPT_BYTES), at + EXCERPT_BYTES).toString('utf8');
        return [{ place, record, excerpt }];
      });
  }
}

/** Returns the text itself, escaped as in a URL, in hexadecimal digits, and in base64 at any offset in a longer text. */
function listEncodings(value: string): string[] {
  const bytes = Buffer.from(value);
  const inBase64 = [0, 1, 2].flatMap((offset) => {
    const shifted = Buffer.concat([Buffer.alloc(offset), bytes]);
    // The first and the last digits may depend on the text beside it.
    const from = Math.ceil((offset * 8) / 6);
    const digits = Math.floor((shifted.length * 8) / 6);
    return (['base64', 'base64url'] as const).map((encoding) => shifted.toString(encoding).slice(from, digits));
  });
  const hex = bytes.toString('hex');
  return [...new Set([value, encodeURIComponent(value), hex, hex.toUpperCase(), ...inBase64])];
}
