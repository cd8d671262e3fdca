/** Imports one export of a file of the project. */
import { stat } from 'node:fs/promises';
import { relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { GraphLoadError, type ProjectExport } from '@runyard/host-protocol/graph-process';

/** @throws GraphLoadError when there is no such file or export; errors of the file itself pass through */
export async function importSymbol(source: ProjectExport, directory: string): Promise<unknown> {
  const shownPath = relative(directory, source.file);
  if (!(await stat(source.file).catch(() => null))?.isFile()) {
    throw new GraphLoadError(`${shownPath} does not exist. Correct the path in langgraph.json.`);
  }
  const namespace = await importFile(source.file);
  const exported = pick(namespace, source.symbol);
  if (exported === undefined || exported === null) {
    const names = Object.keys(namespace).filter((name) => name !== 'module.exports' && name !== '__esModule');
    throw new GraphLoadError(
      `${shownPath} has no export named "${source.symbol}". It exports ${names.length > 0 ? names.join(', ') : 'nothing'}.`,
    );
  }
  return exported;
}

/** Returns an export that a file may have; undefined when it does not. Errors of the file itself pass through. */
export async function importOptionalSymbol({ file, symbol }: ProjectExport): Promise<unknown> {
  return pick(await importFile(file), symbol);
}

const importFile = (file: string) => import(pathToFileURL(file).href) as Promise<Record<string, unknown>>;

/**
 * Returns the export. The exports of a CommonJS file are on `default` of its namespace, its own default one level
 * deeper. Node finds names for some of them, by reading the file; without any, it is a file that computes its exports.
 */
function pick(namespace: Record<string, unknown>, symbol: string): unknown {
  const inner = namespace.default as Record<string, unknown> | undefined;
  const isObject = typeof inner === 'object' && inner !== null;
  const isTranspiled = isObject && '__esModule' in inner;
  if (symbol === 'default' && isTranspiled) return inner.default;
  const hasNoNames = Object.keys(namespace).every((name) => name === 'default' || name === 'module.exports');
  return namespace[symbol] ?? (isTranspiled || (isObject && hasNoNames) ? inner[symbol] : undefined);
}
