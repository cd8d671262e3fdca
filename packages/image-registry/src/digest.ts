import { createHash, type Hash } from 'node:crypto';

/** Matches the digests under which content is stored. */
export const DIGEST = /^(?:sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$/;

/** @param like a digest whose algorithm is used; default: sha256 */
export function digestOf(bytes: Uint8Array, like?: string): string {
  const algorithm = algorithmOf(like);
  return written(algorithm, createHash(algorithm).update(bytes));
}

/** Computes the digest of content that comes in pieces. */
export async function digestOfStream(pieces: AsyncIterable<Uint8Array>, like: string): Promise<string> {
  const algorithm = algorithmOf(like);
  const hash = createHash(algorithm);
  for await (const piece of pieces) hash.update(piece);
  return written(algorithm, hash);
}

function algorithmOf(digest: string | undefined): 'sha256' | 'sha512' {
  return digest?.startsWith('sha512:') ? 'sha512' : 'sha256';
}

const written = (algorithm: string, hash: Hash) => `${algorithm}:${hash.digest('hex')}`;
