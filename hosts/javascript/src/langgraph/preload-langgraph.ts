/**
 * LangGraph is hundreds of files of plain JavaScript. The TypeScript loader passes each of them to its own thread and
 * back, and reads its source map. Loaded before that loader is registered, they take a fraction of the processor time,
 * and the graphs find them in Node's cache.
 */
import { readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ProjectGraph } from '@runyard/host-protocol/graph-process';

/**
 * Loads the copy of LangGraph that the first graph in an ES module uses. Errors are ignored: the graph's own import
 * reports them.
 */
export async function preloadLangGraph(graphs: readonly Pick<ProjectGraph, 'file'>[]): Promise<void> {
  const graph = graphs.find(({ file }) => isEsModule(file));
  if (graph === undefined) return;
  try {
    await import(import.meta.resolve('@langchain/langgraph', pathToFileURL(graph.file).href));
  } catch {
    // It is not installed or too old: loading the graph reports that.
  }
}

/** Follows Node's own rules. A CommonJS file uses LangGraph's CommonJS form, which would be a second copy. */
function isEsModule(file: string): boolean {
  if (/^\.m[jt]s$/.test(extname(file))) return true;
  if (/^\.c[jt]s$/.test(extname(file))) return false;
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    try {
      return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).type === 'module';
    } catch {
      if (folder === dirname(folder)) return false;
    }
  }
}
