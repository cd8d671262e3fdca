/**
 * Embeddings that need no key: texts with the same words are near each other. For a real model write its name into
 * langgraph.json instead of this file, as "embed": "openai:text-embedding-3-small" with "dims": 1536.
 */
import { createHash } from 'node:crypto';

/** Equal to `dims` in langgraph.json. */
const DIMENSIONS = 256;

/** Words that are in every text say nothing about it. */
const COMMON = new Set('a an and are as at be by do for from how i in is it of on or that the to what with'.split(' '));

export async function embed(texts: string[]): Promise<number[][]> {
  return texts.map((text) => {
    const vector = new Array<number>(DIMENSIONS).fill(0);
    for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
      if (COMMON.has(word)) continue;
      // A plural is the same word.
      const place = createHash('sha256').update(word.replace(/s$/, '')).digest().readUInt16BE() % DIMENSIONS;
      vector[place] = (vector[place] ?? 0) + 1;
    }
    // A vector of zeros has no direction, and is near to nothing.
    if (!vector.some((value) => value > 0)) vector[0] = 1;
    return vector;
  });
}
