/**
 * Reads the schemas of graphs from their source, in a separate thread: once per graph, one at a time, with a time
 * limit.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { ExtractedGraph, ReadSchemas } from '../../source-schemas/extract.ts';
import type { LoadedGraph, Warn } from '../loading/load-graphs.ts';

/** Milliseconds before a failed read is tried again: each try costs seconds of one core. */
const RETRY_MS = 60_000;
/** Milliseconds after which an idle thread ends: it holds what it knows of the libraries, some hundred megabytes. */
const IDLE_MS = 10_000;
const HEAP_MB = 1024;
const NOTHING: ExtractedGraph = { graph: {}, subgraphs: {} };

export class SourceSchemas {
  readonly #graphs: () => Iterable<LoadedGraph>;
  readonly #warn: Warn;
  readonly #known = new Map<string, Promise<ExtractedGraph>>();
  #last: Promise<unknown> = Promise.resolve();
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;

  /** @param graphs returns all graphs of the project */
  constructor(graphs: () => Iterable<LoadedGraph>, warn: Warn) {
    this.#graphs = graphs;
    this.#warn = warn;
  }

  /** Resolves to empty schemas when the source does not say, or not within the time. */
  of(graph: LoadedGraph, timeoutMs: number): Promise<ExtractedGraph> {
    const { graphId } = graph;
    const known = this.#known.get(graphId);
    if (known) return known;
    const reading = this.#last.then(() => this.#read(graph, timeoutMs));
    this.#last = reading.catch(() => undefined);
    const result = reading.catch((error: Error) => {
      this.#warn(`The schemas of graph "${graphId}" could not be read off its source: ${error.message}`);
      setTimeout(() => this.#known.delete(graphId), RETRY_MS).unref();
      return NOTHING;
    });
    this.#known.set(graphId, result);
    return result;
  }

  async #read({ source }: LoadedGraph, timeoutMs: number): Promise<ExtractedGraph> {
    clearTimeout(this.#idle);
    this.#worker ??= this.#startWorker();
    const worker = this.#worker;
    try {
      worker.postMessage(source);
      const [answer] = (await once(worker, 'message', { signal: AbortSignal.timeout(timeoutMs) })) as [ReadSchemas];
      if ('error' in answer) throw new Error(answer.error);
      return answer.schemas;
    } catch (error) {
      if ((error as Error).name !== 'AbortError') throw error;
      await this.#endWorker();
      throw new Error(`it took longer than ${timeoutMs} ms (LANGGRAPH_SCHEMA_RESOLVE_TIMEOUT_MS)`, { cause: error });
    } finally {
      this.#idle = setTimeout(() => void this.#endWorker(), IDLE_MS).unref();
    }
  }

  #startWorker(): Worker {
    const worker = new Worker(workerEntry(), {
      workerData: [...new Set([...this.#graphs()].map(({ source }) => source.file))],
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    });
    worker.unref();
    // Whoever waits for an answer gets the error; one that comes while nobody waits ends the thread alone.
    worker.on('error', () => undefined);
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    return worker;
  }

  async #endWorker(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }
}

/** Returns the entry, next to the child's bundle or, when nothing is bundled, in the source folder. */
function workerEntry(): URL {
  const isSource = import.meta.url.endsWith('.ts');
  return new URL(isSource ? '../../source-schemas/from-source.mjs' : './graph-host-schemas.js', import.meta.url);
}
