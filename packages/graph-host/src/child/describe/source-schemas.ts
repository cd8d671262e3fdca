/**
 * Reads the schemas of graphs from their source, in a separate thread: once per graph, one at a time, with a time
 * limit.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { ExtractedGraph } from '../../source-schemas/extract.ts';
import type { LoadedGraph, Warn } from '../loading/load-graphs.ts';

/** Milliseconds before a failed read is tried again: each try costs seconds of one core. */
const RETRY_MS = 60_000;
const HEAP_MB = 1024;
const NOTHING: ExtractedGraph = { graph: {}, subgraphs: {} };

export class SourceSchemas {
  readonly #warn: Warn;
  readonly #known = new Map<string, Promise<ExtractedGraph>>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(warn: Warn) {
    this.#warn = warn;
  }

  /** Resolves to empty schemas when the source does not say, or not within the time. */
  of(graph: LoadedGraph, timeoutMs: number): Promise<ExtractedGraph> {
    const { graphId } = graph;
    const known = this.#known.get(graphId);
    if (known) return known;
    const extracting = this.#last.then(() => extract(graph, timeoutMs));
    this.#last = extracting.catch(() => undefined);
    const result = extracting.catch((error: Error) => {
      this.#warn(`The schemas of graph "${graphId}" could not be read off its source: ${error.message}`);
      setTimeout(() => this.#known.delete(graphId), RETRY_MS).unref();
      return NOTHING;
    });
    this.#known.set(graphId, result);
    return result;
  }
}

async function extract({ source }: LoadedGraph, timeoutMs: number): Promise<ExtractedGraph> {
  const worker = new Worker(workerEntry(), {
    workerData: source,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  });
  try {
    const [extracted] = await once(worker, 'message', { signal: AbortSignal.timeout(timeoutMs) });
    return extracted as ExtractedGraph;
  } catch (error) {
    if ((error as Error).name !== 'AbortError') throw error;
    throw new Error(`it took longer than ${timeoutMs} ms (LANGGRAPH_SCHEMA_RESOLVE_TIMEOUT_MS)`, { cause: error });
  } finally {
    await worker.terminate();
  }
}

/** Returns the entry, next to the child's bundle or, when nothing is bundled, in the source folder. */
function workerEntry(): URL {
  const isSource = import.meta.url.endsWith('.ts');
  return new URL(isSource ? '../../source-schemas/from-source.mjs' : './graph-host-schemas.js', import.meta.url);
}
