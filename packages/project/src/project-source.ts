/** Reads the sources in `langgraph.json`: each is an export of a file, or of a module of Python. */
import { isAbsolute, resolve } from 'node:path';
import type { ProjectExport } from '@runyard/host-protocol';

export type ProjectLanguage = 'javascript' | 'python';

const JAVASCRIPT_FILE = /\.[cm]?[jt]sx?$/;
const PYTHON_FILE = /\.py$/;
const PYTHON_MODULE = /^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/;

/**
 * Splits `./file.ts:export` into absolute file and export name (default `default`). The last colon counts: `C:` has one
 * too. Without a slash and an extension it is a module of Python, like `my_package.agent:graph`.
 */
export function parseSource(source: string, directory: string): ProjectExport {
  const colon = source.lastIndexOf(':');
  const hasSymbol = colon > 1;
  const place = hasSymbol ? source.slice(0, colon) : source;
  const name = hasSymbol ? source.slice(colon + 1) : '';
  const symbol = name === '' ? 'default' : name;
  if (!JAVASCRIPT_FILE.test(place) && !PYTHON_FILE.test(place) && PYTHON_MODULE.test(place)) {
    return { file: '', module: place, symbol };
  }
  return { file: isAbsolute(place) ? place : resolve(directory, place), symbol };
}

export function languageOf({ file, module }: ProjectExport): ProjectLanguage {
  return module !== undefined || PYTHON_FILE.test(file) ? 'python' : 'javascript';
}
