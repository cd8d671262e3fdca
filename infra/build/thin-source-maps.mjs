// Node keeps a whole source map in memory from the first error whose stack is read: a hundred bytes for each mapping,
// most of them into npm packages. The line of a frame is enough there.
import { readFile, writeFile } from 'node:fs/promises';
import { decode, encode } from '@jridgewell/sourcemap-codec';

/** Rewrites the map so that it still locates each line of a package, and each expression of our own. */
export async function thinSourceMap(file) {
  const map = JSON.parse(await readFile(file, 'utf8'));
  await writeFile(file, JSON.stringify(thinned(map)));
}

export function thinned(map) {
  const isPackage = map.sources.map((source) => source.includes('node_modules/'));
  const lines = decode(map.mappings).map((segments) =>
    segments.filter(([, source], index) => !isPackage[source] || source !== segments[index - 1]?.[1]),
  );
  return { ...map, mappings: encode(lines) };
}
