/**
 * LangGraph is hundreds of files of plain JavaScript. The loader of TypeScript passes each to a thread of its own and back, and has
 * its source map read. Loaded before that loader is there, they take a fraction of the processor time, and the graphs find them
 * in Node's cache.
 */
import { readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ProjectGraph } from '../project/read-project.ts';

/** Loads the copy that the first graph which is an ES module takes. What is wrong with it is for that graph's own import to say. */
export async function preloadLangGraph(graphs: readonly Pick<ProjectGraph, 'file'>[]): Promise<void> {
  const graph = graphs.find(({ file }) => isEsModule(file));
  if (graph === undefined) return;
  try {
    await import(import.meta.resolve('@langchain/langgraph', pathToFileURL(graph.file).href));
  } catch {
    // It is not installed, or too old: loading the graph tells which.
  }
}

/** By Node's own rules. A CommonJS file takes LangGraph's CommonJS form, which would be a second copy beside this one. */
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
