import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';

const folder = join(import.meta.dirname, '../dist/web');
const SHELL_MAX = 180_000;
const PAGE_MAX = 300_000;

/** A file of the pages, and what it loads: at once, and later. */
interface Chunk {
  file: string;
  css?: string[];
  imports?: string[];
  isEntry?: boolean;
  isDynamicEntry?: boolean;
}

const manifest = JSON.parse(readFileSync(join(folder, '.vite/manifest.json'), 'utf8')) as Record<string, Chunk>;

/** Returns the files that a chunk needs before it works. */
function filesOf(name: string, found = new Set<string>()): Set<string> {
  const { file, css = [], imports = [] } = manifest[name]!;
  if (found.has(file)) return found;
  for (const each of [file, ...css]) found.add(each);
  for (const each of imports) filesOf(each, found);
  return found;
}

const sizeOf = (files: Iterable<string>) =>
  [...files].reduce((sum, file) => sum + gzipSync(readFileSync(join(folder, file)), { level: 9 }).byteLength, 0);

it('a page loads at most 300 kB, of which 180 kB are what all of them share', () => {
  const entry = Object.keys(manifest).find((name) => manifest[name]!.isEntry)!;
  const shell = filesOf(entry);
  expect(sizeOf(shell)).toBeLessThan(SHELL_MAX);
  const pages = Object.keys(manifest).filter((name) => manifest[name]!.isDynamicEntry);
  expect(pages.length).toBeGreaterThan(5);
  const tooLarge = pages.filter((name) => sizeOf(filesOf(name, new Set(shell))) > PAGE_MAX);
  expect(tooLarge).toEqual([]);
});
