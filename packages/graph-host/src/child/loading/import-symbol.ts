/** Imports one export of a file of the project. */
import { stat } from 'node:fs/promises';
import { relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { GraphLoadError } from '../../errors.ts';
import type { ProjectExport } from '../../project/read-project.ts';

/** @throws GraphLoadError when there is no such file or export; errors of the file itself pass through */
export async function importSymbol(source: ProjectExport, directory: string): Promise<unknown> {
  const shownPath = relative(directory, source.file);
  if (!(await stat(source.file).catch(() => null))?.isFile()) {
    throw new GraphLoadError(`${shownPath} does not exist. Correct the path in langgraph.json.`);
  }
  const namespace = (await import(pathToFileURL(source.file).href)) as Record<string, unknown>;
  const exported = pick(namespace, source.symbol);
  if (exported === undefined || exported === null) {
    const names = Object.keys(namespace).filter((name) => name !== 'module.exports' && name !== '__esModule');
    throw new GraphLoadError(
      `${shownPath} has no export named "${source.symbol}". It exports ${names.length > 0 ? names.join(', ') : 'nothing'}.`,
    );
  }
  return exported;
}

/**
 * Returns the export. The exports of a CommonJS file are on `default` of its namespace, its own default one level
 * deeper.
 */
function pick(namespace: Record<string, unknown>, symbol: string): unknown {
  const inner = namespace.default as Record<string, unknown> | undefined;
  const isCommonJs = typeof inner === 'object' && inner !== null && '__esModule' in inner;
  if (symbol === 'default' && isCommonJs) return inner.default;
  return namespace[symbol] ?? (isCommonJs ? inner[symbol] : undefined);
}
