/**
 * Returns the schemas that are stored with the project, and reads others from the source of their graphs, in a separate thread:
 * once per graph, one at a time, with a time limit.
 */
import { once } from 'node:events';
import { relative } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { StoreSchemasRequest } from '@runyard/host-protocol/graph-process';
import type { LoadedGraph, Warn } from '../loading/load-graphs.ts';
import type { ExtractedGraph, ReadAnswer, ReaderData } from '../source-schemas/extract.ts';
import { digestFile, type FileDigests, mergeDigests } from '../source-schemas/file-digests.ts';
import { StoredSchemas } from './stored-schemas.ts';

/** Milliseconds before a failed read is tried again: each try costs seconds of one core. */
const RETRY_MS = 60_000;
/** Milliseconds after which an idle thread ends: it holds what it knows of the libraries, some hundred megabytes. */
const IDLE_MS = 10_000;
const HEAP_MB = 1024;
const NOTHING: ExtractedGraph = { graph: {}, subgraphs: {} };

export class SourceSchemas {
  readonly #graphs: () => Iterable<LoadedGraph>;
  readonly #directory: () => string;
  readonly #warn: Warn;
  readonly #known = new Map<string, Promise<ExtractedGraph>>();
  #stored: Promise<StoredSchemas> | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;

  /** The functions return all graphs of the project, and its folder. */
  constructor(graphs: () => Iterable<LoadedGraph>, directory: () => string, warn: Warn) {
    this.#graphs = graphs;
    this.#directory = directory;
    this.#warn = warn;
  }

  /** Resolves to empty schemas when the source does not say, or not within the time. */
  of(graph: LoadedGraph, timeoutMs: number): Promise<ExtractedGraph> {
    const { graphId } = graph;
    const known = this.#known.get(graphId);
    if (known) return known;
    const result = this.#find(graph, timeoutMs).catch((error: Error) => {
      this.#warnOf(graph, error);
      setTimeout(() => this.#known.delete(graphId), RETRY_MS).unref();
      return NOTHING;
    });
    this.#known.set(graphId, result);
    return result;
  }

  /**
   * Reads the schemas of these graphs and stores them in the project's folder, unless they are there. A graph whose
   * schemas cannot be read gets a warning. This process knows what was read also when it cannot be stored.
   *
   * @returns how many of the graphs have their schemas
   */
  async store(graphs: LoadedGraph[], { sourceTimeoutMs, inBackground }: StoreSchemasRequest): Promise<number> {
    const stored = await this.#readStored();
    if (graphs.every((graph) => stored.has(graph))) return graphs.filter((graph) => stored.of(graph)).length;
    const directory = this.#directory();
    // A thread that takes too long does not say which files it has looked at.
    let files: FileDigests = Object.fromEntries(
      graphs.map(({ source: { file } }) => [relative(directory, file), digestFile(file)]),
    );
    const read: { graph: LoadedGraph; schemas: ExtractedGraph | null }[] = [];
    if (inBackground) this.#worker ??= this.#startWorker(true);
    for (const graph of graphs) {
      try {
        const answer = await this.#inTurn(() => this.#ask(graph, sourceTimeoutMs));
        files = mergeDigests(files, answer.files);
        const schemas = schemasIn(answer);
        this.#known.set(graph.graphId, Promise.resolve(schemas));
        read.push({ graph, schemas });
      } catch (error) {
        this.#warnOf(graph, error as Error);
        read.push({ graph, schemas: null });
      }
    }
    // The thread of a request has the priority of the process.
    if (inBackground) await this.#inTurn(() => this.#endWorker());
    await StoredSchemas.write(directory, read, files);
    this.#stored = undefined;
    return read.filter(({ schemas }) => schemas !== null).length;
  }

  async #find(graph: LoadedGraph, timeoutMs: number): Promise<ExtractedGraph> {
    const stored = (await this.#readStored()).of(graph);
    return stored ?? schemasIn(await this.#inTurn(() => this.#ask(graph, timeoutMs)));
  }

  #readStored(): Promise<StoredSchemas> {
    this.#stored ??= StoredSchemas.read(this.#directory());
    return this.#stored;
  }

  /** Does what asks the thread or ends it, one after the other: its answers do not say what they answer. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }

  #warnOf({ graphId }: LoadedGraph, error: Error): void {
    this.#warn(`The schemas of graph "${graphId}" could not be read off its source: ${error.message}`);
  }

  async #ask({ source }: LoadedGraph, timeoutMs: number): Promise<ReadAnswer> {
    clearTimeout(this.#idle);
    this.#worker ??= this.#startWorker();
    const worker = this.#worker;
    try {
      worker.postMessage(source);
      const [answer] = await once(worker, 'message', { signal: AbortSignal.timeout(timeoutMs) });
      return answer as ReadAnswer;
    } catch (error) {
      if ((error as Error).name !== 'AbortError') throw error;
      await this.#endWorker();
      throw new Error(`it took longer than ${timeoutMs} ms (LANGGRAPH_SCHEMA_RESOLVE_TIMEOUT_MS)`, { cause: error });
    } finally {
      this.#idle = setTimeout(() => void this.#endWorker(), IDLE_MS).unref();
    }
  }

  #startWorker(inBackground = false): Worker {
    const files = [...new Set([...this.#graphs()].map(({ source }) => source.file))];
    const worker = new Worker(workerEntry(), {
      workerData: { files, directory: this.#directory(), inBackground } satisfies ReaderData,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    });
    worker.unref();
    const forget = () => {
      if (this.#worker === worker) this.#worker = undefined;
    };
    // Whoever waits for an answer gets the error; one that comes while nobody waits ends the thread alone.
    worker.on('error', forget);
    worker.once('exit', forget);
    return worker;
  }

  async #endWorker(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }
}

function schemasIn(answer: ReadAnswer): ExtractedGraph {
  if ('error' in answer) throw new Error(answer.error);
  return answer.schemas;
}

/** Returns the entry, next to the child's bundle or, when nothing is bundled, in the source folder. */
function workerEntry(): URL {
  const isSource = import.meta.url.endsWith('.ts');
  return new URL(isSource ? '../source-schemas/from-source.mjs' : './graph-host-schemas.js', import.meta.url);
}
