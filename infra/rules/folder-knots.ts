import { isTestFile, type SourceImport } from './source-imports.ts';

/** Names of folders, and of files beside them, that import each other in a circle, by the folder that they are in. */
export type FolderKnots = Record<string, string[][]>;

/** Imports between what lies in one folder: a name in it → names beside it. */
type Edges = Map<string, Set<string>>;

/**
 * Finds the circles of imports, at every depth, that a folder is part of: it cannot be read, moved or deleted without
 * the others. Circles of files in one folder are none of these, and tests do not count.
 */
export function findFolderKnots(imports: SourceImport[]): FolderKnots {
  const knots: FolderKnots = {};
  for (const [parent, edges] of importsInside(imports)) {
    const found = knotsIn(edges).filter((knot) => !knot.every(isFile));
    if (found.length > 0) knots[parent] = found;
  }
  return knots;
}

/** Returns the imports inside each folder, by the folder. */
function importsInside(imports: SourceImport[]): Map<string, Edges> {
  const folders = new Map<string, Edges>();
  for (const { from, to } of imports) {
    if (isTestFile(from)) continue;
    const [importing, imported] = [from.split('/'), to.split('/')];
    const depth = importing.findIndex((name, index) => name !== imported[index]);
    const [name, target] = [importing[depth], imported[depth]];
    if (name === undefined || target === undefined) continue;
    const folder = importing.slice(0, depth).join('/');
    const edges = folders.get(folder) ?? new Map<string, Set<string>>();
    edges.set(name, (edges.get(name) ?? new Set()).add(target));
    folders.set(folder, edges);
  }
  return folders;
}

function isFile(name: string): boolean {
  return /\.m?[jt]sx?$/.test(name);
}

/** Returns the sets of names of which each reaches each other. */
function knotsIn(edges: Edges): string[][] {
  const reached = new Map([...edges.keys()].map((name) => [name, reachableFrom(name, edges)]));
  const knots = new Map<string, string[]>();
  for (const [name, others] of reached) {
    if (!others.has(name)) continue;
    const knot = [...others].filter((other) => reached.get(other)?.has(name)).sort();
    knots.set(knot.join(), knot);
  }
  return [...knots.values()].sort();
}

function reachableFrom(start: string, edges: Edges): Set<string> {
  const reached = new Set<string>();
  const open = [start];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    for (const next of edges.get(name) ?? []) {
      if (!reached.has(next)) open.push(next);
      reached.add(next);
    }
  }
  return reached;
}
