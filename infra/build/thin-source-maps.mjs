// Node keeps a whole source map in memory from the first error whose stack is read: a hundred bytes for each mapping.
// The line of a frame is enough, so a line has one mapping instead of one for each expression.
import { readFile, writeFile } from 'node:fs/promises';
import { decode, encode } from '@jridgewell/sourcemap-codec';

/** Rewrites the map so that it still locates each line. */
export async function thinSourceMap(file) {
  const map = JSON.parse(await readFile(file, 'utf8'));
  await writeFile(file, JSON.stringify(thinned(map)));
}

export function thinned(map) {
  const lines = decode(map.mappings).map((segments) =>
    segments.filter(([, source], index) => source !== segments[index - 1]?.[1]),
  );
  return { ...map, mappings: encode(lines) };
}
