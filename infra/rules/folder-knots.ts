import { isTestFile, packageOf, type SourceImport } from './source-imports.ts';

/**
 * Finds the folders directly below a service's `src` that import each other in a circle, by service. Files at the root
 * wire the folders together and belong to none; tests do not count either.
 */
export function findFolderKnots(imports: SourceImport[]): Map<string, string[]> {
  const knots = new Map<string, string[]>();
  for (const [service, edges] of folderImports(imports)) {
    const knotted = [...edges.keys()].filter((folder) => reachableFrom(folder, edges).has(folder)).sort();
    if (knotted.length > 0) knots.set(service, knotted);
  }
  return knots;
}

/** Service → folder → folders it imports. */
function folderImports(imports: SourceImport[]): Map<string, Map<string, Set<string>>> {
  const services = new Map<string, Map<string, Set<string>>>();
  for (const { from, to } of imports) {
    const service = packageOf(from);
    if (!service.startsWith('services/') || packageOf(to) !== service || isTestFile(from)) continue;
    const [folder, target] = [folderOf(from), folderOf(to)];
    if (folder === null || target === null || folder === target) continue;
    const edges = services.get(service) ?? new Map<string, Set<string>>();
    edges.set(folder, (edges.get(folder) ?? new Set()).add(target));
    services.set(service, edges);
  }
  return services;
}

function folderOf(file: string): string | null {
  return /^services\/[^/]+\/src\/([^/]+)\//.exec(file)?.[1] ?? null;
}

function reachableFrom(start: string, edges: Map<string, Set<string>>): Set<string> {
  const reached = new Set<string>();
  const open = [start];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const next of edges.get(folder) ?? []) {
      if (!reached.has(next)) open.push(next);
      reached.add(next);
    }
  }
  return reached;
}
