import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { ALONE, PARENTS, sourceFiles } from './source-files.ts';

/** One import of one source file by another of this repository. */
export interface SourceImport {
  /** The importing file, from the repository's root. */
  from: string;
  /** The imported file or package, from the repository's root: `packages/contracts`, `services/gateway/src/run.ts`. */
  to: string;
}

/** Matches statements as biome formats them; a type import counts too, since it ties the reader just as much. */
const IMPORTS =
  /(?:^|\n)\s*(?:import|export)\s[^'";]*?from\s+'([^']+)'|\bimport\(\s*'([^']+)'\s*\)|(?:^|\n)import\s+'([^']+)'/g;

/** Returns every import of the repository's own files and packages, type imports too. */
export function readImports(repository: string): SourceImport[] {
  const packages = packageFolders(repository);
  return sourceFiles(repository).flatMap((from) =>
    importsIn(readFileSync(posix.join(repository, from), 'utf8'), from, packages),
  );
}

/**
 * Returns the imports in one file's text that lead to files or packages of the repository.
 *
 * @param packages the folder of each package, by its name
 */
export function importsIn(text: string, from: string, packages: Map<string, string>): SourceImport[] {
  return [...text.matchAll(IMPORTS)]
    .map((match) => resolveImport(from, (match[1] ?? match[2] ?? match[3])!, packages))
    .filter((to) => to !== null)
    .map((to) => ({ from, to }));
}

/** Returns the package a file belongs to: `services/gateway`, `packages/contracts`, `infra/local`, `e2e`. */
export function packageOf(file: string): string {
  const [first = '', second = ''] = file.split('/');
  return PARENTS.includes(first) ? `${first}/${second}` : first;
}

/** Returns whether a file serves tests alone: its imports are no dependency of the product. */
export function isTestFile(file: string): boolean {
  return /\.test\.ts$|\/test\//.test(file);
}

function resolveImport(from: string, specifier: string, packages: Map<string, string>): string | null {
  if (specifier.startsWith('.')) return posix.join(posix.dirname(from), specifier);
  const name = specifier.split('/').slice(0, 2).join('/');
  return packages.get(name) ?? null;
}

/** The folder of each package, by its name. */
function packageFolders(repository: string): Map<string, string> {
  const below = PARENTS.flatMap((parent) =>
    readdirSync(posix.join(repository, parent)).map((name) => `${parent}/${name}`),
  );
  return new Map(
    [...below, ...ALONE].flatMap((folder) => {
      const name = packageName(posix.join(repository, folder));
      return name === null ? [] : [[name, folder]];
    }),
  );
}

function packageName(folder: string): string | null {
  try {
    return (JSON.parse(readFileSync(posix.join(folder, 'package.json'), 'utf8')) as { name: string }).name;
  } catch {
    return null;
  }
}
