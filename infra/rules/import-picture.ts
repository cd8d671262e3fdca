import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isTestFile, packageOf, readImports, type SourceImport } from './source-imports.ts';

/** Folders whose packages are the product. */
const PRODUCT = /^(services|packages|hosts)\//;
const BEGIN = '<!-- Written by `npm run -s generate:architecture`: -->\n';
const END = '<!-- End of what is written. -->\n';

/**
 * Draws which service and package imports which, as a diagram for Mermaid. An arrow is left out where others lead there:
 * what a package needs, whoever imports it needs too.
 */
function drawImports(imports: readonly SourceImport[]): string {
  const needs = packagesNeeded(imports);
  const reached = (from: string, seen = new Set<string>()): Set<string> => {
    for (const to of needs.get(from) ?? []) if (!seen.has(to)) reached(to, seen.add(to));
    return seen;
  };
  const arrows = [...needs].flatMap(([from, all]) => {
    const indirect = new Set([...all].flatMap((to) => [...reached(to)]));
    const direct = [...all].filter((to) => !indirect.has(to)).sort();
    return direct.length === 0 ? [] : [`  ${nodeOf(from)} --> ${direct.map(nodeOf).join(' & ')}`];
  });
  return ['```mermaid', 'flowchart LR', ...arrows.sort(), '```', ''].join('\n');
}

/** Returns `ARCHITECTURE.md` as it is and as it is drawn now. @throws Error when it has no marks for the picture */
export function drawnPage(repository: string): { page: string; drawn: string } {
  const page = readFileSync(join(repository, 'ARCHITECTURE.md'), 'utf8');
  const [before, rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (after === undefined) throw new Error('ARCHITECTURE.md has no marks for the picture.');
  return { page, drawn: `${before}${BEGIN}${drawImports(readImports(repository))}${END}${after}` };
}

function packagesNeeded(imports: readonly SourceImport[]): Map<string, Set<string>> {
  const needs = new Map<string, Set<string>>();
  for (const { from, to } of imports) {
    const [owner, target] = [packageOf(from), packageOf(to)];
    const isOfProduct = [owner, target].every((name) => PRODUCT.test(name) && name !== 'packages/test-kit');
    if (owner === target || !isOfProduct || isTestFile(from)) continue;
    if (!needs.has(owner)) needs.set(owner, new Set());
    needs.get(owner)!.add(target);
  }
  return needs;
}

/** A service has square corners, a package round ones. */
function nodeOf(name: string): string {
  const [folder, short = ''] = name.split('/');
  return folder === 'packages' ? `${short}(${short})` : `${short}[${short}]`;
}
