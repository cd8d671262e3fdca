import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The entries of LangGraph in the lock files of package managers, with the version that each names. */
const LANGGRAPH_IN_LOCK_FILES: Record<string, RegExp> = {
  'package-lock.json': /"[^"]*node_modules\/@langchain\/langgraph":\s*\{\s*"version":\s*"([^"]+)"/g,
  'npm-shrinkwrap.json': /"[^"]*node_modules\/@langchain\/langgraph":\s*\{\s*"version":\s*"([^"]+)"/g,
  'pnpm-lock.yaml': /^ {2}['/]@langchain\/langgraph[@/](\d[^'(:\s]*)/gm,
  'yarn.lock': /^"?@langchain\/langgraph@[^\n]*:\n {2}version:? "?([^"\s]+)/gm,
  'bun.lock': /"@langchain\/langgraph": \["@langchain\/langgraph@([^"]+)"/g,
};

/** Returns the versions of LangGraph that the lock file of a folder names; undefined for a folder without one. */
export async function lockedLangGraphVersions(folder: string): Promise<string[] | undefined> {
  for (const [name, entries] of Object.entries(LANGGRAPH_IN_LOCK_FILES)) {
    const text = await readFile(join(folder, name), 'utf8').catch(() => undefined);
    if (text !== undefined) return [...text.matchAll(entries)].map(([, version]) => version!);
  }
  return undefined;
}
