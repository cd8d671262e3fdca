import { basename, extname } from 'node:path';

/** Files of code. Others may be what an agent itself writes: if they counted, each of its runs would reload it. */
const CODE = new Set(['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs', '.py']);

/** Files that say how code is loaded, and which packages it has. */
const SETTINGS = /^(langgraph\.json|package\.json|pyproject\.toml|requirements.*\.txt|uv\.lock|[jt]sconfig.*\.json)$/;

/** Folders that nobody edits, beside those whose name begins with a dot. */
const LEFT_OUT = new Set(['node_modules', '__pycache__', 'venv', 'site-packages']);

/** Returns whether a change of the file means other code or settings of the project. */
export function isSource(path: string, envFile: string | null): boolean {
  const name = basename(path);
  return CODE.has(extname(name)) || SETTINGS.test(name) || path === envFile;
}

export function isLeftOut(folder: string): boolean {
  const name = basename(folder);
  return name.startsWith('.') || LEFT_OUT.has(name);
}
