/** What a parent (run-worker, agent-api, build) asks of a graph host and what it gets. Wire form: `protocol/`. */
import type { CheckpointBackend, StoreBackend } from '@runyard/checkpointer';
import type { Loopback } from './local-http.ts';
import type { HostUser } from './parent/host-user.ts';
import type { ProjectExport } from './project/read-project.ts';
import type { EmbeddingsSource } from './project/store-settings.ts';

export interface GraphHostOptions {
  /** Folder of the user's project; graphs, packages and relative paths resolve from here. */
  projectDir: string;
  /** The project's langgraph.json, absolute. */
  configPath: string;
  /** The whole environment of the child: an allow-list made by the parent. Nothing is inherited. */
  environment: Record<string, string>;
  /** Whom the child runs as; default: this process's user. */
  user?: HostUser | undefined;
  /** The server of the deployment, for clients that the project's code makes without a URL. */
  loopback?: Loopback;
  /** V8 old-space limit of the child. */
  heapLimitMb?: number;
  /** How long loading the project may take. */
  startTimeoutMs?: number;
  /** Gives the start up: the child is killed, and GraphLoadError thrown. */
  startSignal?: AbortSignal;
  /** Defaults are right for production; tests make them small. */
  limits?: {
    /** Bytes of events a run may have on their way before the parent has passed any on. */
    creditBytes?: number;
    /** Bytes of events that may wait in the child for credit before the run fails. */
    bufferBytes?: number;
    /** Bytes of one event; a larger one is left out, and an event of kind `stream.gap` says so. */
    eventBytes?: number;
    /** Bytes of console output per second that are passed on; the rest is counted and dropped. */
    logBytesPerSecond?: number;
  };
  onLog: (line: HostLog) => void;
  /** The child is gone without having been asked to go. Every open run has been settled as `lost` by then. */
  onExit?: (reason: string) => void;
}

export interface HostLog {
  level: 'debug' | 'info' | 'warn' | 'error';
  message: string;
  runId?: string;
  threadId?: string;
  graphId?: string;
  /** What the project's code says beside the message, through the logger of the SDK. */
  data?: Record<string, unknown>;
}

export interface GraphDescription {
  graphId: string;
  description?: string;
  /** The project exports a function: the graph is made anew for each use, from its configuration. */
  isFactory: boolean;
}

/** Where one use of a graph reads and writes; given with each request, so that each run has its own fence. */
export interface GraphBackends {
  /** Left out: the graph runs without a checkpointer. */
  checkpoints?: CheckpointBackend;
  store: StoreBackend;
}

export interface RunRequest {
  runId: string;
  threadId: string;
  assistantId: string;
  graphId: string;
  /** Counted from 1. A later one goes on from what the thread's checkpoints say the earlier ones did. */
  attempt: number;
  /** JSON value, or undefined for none. */
  input?: unknown;
  command?: { resume?: unknown; update?: unknown; goto?: unknown };
  /** LangGraph config; thread, run and checkpoint ids are among `configurable`. */
  config: {
    configurable: Record<string, unknown>;
    tags?: string[];
    recursion_limit?: number;
    /** Tasks of one step that run at the same time. */
    max_concurrency?: number;
    /** What traces and the `events` mode call the run instead of by its graph's name. */
    run_name?: string;
    metadata?: Record<string, unknown>;
  };
  context?: unknown;
  /** As asked by the client: `values`, `updates`, `messages`, `messages-tuple`, `custom`, `debug`, `events`, `tasks`, `checkpoints`. */
  streamModes: string[];
  streamSubgraphs: boolean;
  interruptBefore?: '*' | string[];
  interruptAfter?: '*' | string[];
  durability: 'sync' | 'async' | 'exit';
  /** Where the trace goes, if the project's environment has tracing on; left out: where that says. */
  tracing?: { project?: string; exampleId?: string };
}

/** One event in the v1 stream form, already JSON. */
export interface RunEvent {
  /** Stream mode the client asked for. */
  mode: string;
  /** Name for the SSE `event:` field. */
  event: string;
  /** JSON text. */
  data: string;
}

export type RunOutcome =
  | {
      /** Ran to its end or to an interrupt. */
      kind: 'done';
      /** JSON text of the final values, `__interrupt__` included when interrupted. */
      values: Uint8Array;
      /** Nodes that would run next; not empty after an interrupt. */
      next: string[];
      /** JSON text `{task id: [{id, value}]}`, null when none. */
      interrupts: Uint8Array | null;
      checkpointId: string | null;
    }
  | {
      kind: 'failed';
      error: { error: string; message: string };
      values: Uint8Array | null;
      checkpointId: string | null;
    }
  /** `abort` was called; values as far as it came. */
  | { kind: 'aborted'; values: Uint8Array | null; checkpointId: string | null }
  /** Stopped at a step boundary after `drain`; can go on elsewhere from its last checkpoint. */
  | { kind: 'drained' }
  /** A backend refused because another attempt owns the thread. */
  | { kind: 'fenced' }
  /** The child ended under it, or its storage was away. */
  | { kind: 'lost'; cause: LossCause; reason: string };

/**
 * Why an attempt came to no end of its own: what happened to its process; `storage` could not be reached, or was `slowStorage`;
 * its events could not be passed on.
 */
export type LossCause = 'exited' | 'outOfMemory' | 'unresponsive' | 'storage' | 'slowStorage' | 'undeliverable';

export interface RunHandle {
  /** Never rejects. Every event has been delivered to `onEvents` before it resolves. */
  settled: Promise<RunOutcome>;
  /** Resolves once none of the run's code goes on, as far as the child knows: later than `settled` for one that is cut short. */
  stopped: Promise<void>;
  abort(reason: string): void;
  drain(): void;
}

export interface RunHandlers {
  /** The child has taken the run up. Until then nothing that happens in the child is the run's doing. */
  onBegun?(): void;
  /**
   * Events in the order the graph emitted them. An event that follows a checkpoint is delivered only after that
   * checkpoint is durable. The host is held back while the promise is pending (byte credits).
   */
  onEvents(events: RunEvent[]): void | Promise<void>;
}

/** What a factory makes the graph from, as for runs: `configurable`, and with it `context`. */
export interface FactoryConfig {
  configurable: Record<string, unknown>;
  [key: string]: unknown;
}

export interface StateRequest {
  graphId: string;
  threadId: string;
  /** Left out: a factory is told the thread alone. */
  config?: FactoryConfig | undefined;
  checkpointId?: string;
  checkpointNs?: string;
  subgraphs?: boolean;
}

export interface StateUpdateRequest extends StateRequest {
  values?: unknown;
  asNode?: string;
  /** Several updates in order make supersteps; left out: one update of `values` and `asNode`. */
  supersteps?: { updates: { values?: unknown; command?: unknown; as_node?: string }[] }[];
}

export interface HistoryRequest {
  graphId: string;
  threadId: string;
  /** Left out: a factory is told the thread alone. */
  config?: FactoryConfig | undefined;
  limit: number;
  beforeCheckpointId?: string;
  checkpointId?: string;
  checkpointNs?: string;
  metadata?: Record<string, unknown>;
}

/** The use of a graph by an assistant that is only looked at. */
export interface LookRequest {
  graphId: string;
  /** As runs of the assistant would have it. */
  config: FactoryConfig;
}

export interface DrawingRequest extends LookRequest {
  /** True: with the graphs inside nodes in their place; a number: down to that depth. */
  xray: boolean | number;
}

export interface SchemasRequest extends LookRequest {
  /** How long reading the graph's source may take, when the graph does not carry its schemas. */
  sourceTimeoutMs: number;
}

export interface SubgraphsRequest extends SchemasRequest {
  /** Left out: those of every node. Otherwise a node, for a deeper one `outer|inner`. */
  namespace?: string;
  /** Also look inside subgraphs. */
  recurse: boolean;
}

/** Nodes and edges as JSON of the wire (`GraphDrawing` in contracts). */
export type GraphDrawing = { nodes: Record<string, unknown>[]; edges: Record<string, unknown>[] };

/** JSON Schemas; null for what cannot be told. */
export type GraphSchemas = Record<
  'input_schema' | 'output_schema' | 'state_schema' | 'config_schema' | 'context_schema',
  Record<string, unknown> | null
>;

/** A state snapshot as JSON of the wire (`ThreadState` in contracts). */
export type ThreadStateJson = Record<string, unknown>;

/** The project's HTTP app, as it listens. */
export interface ServedApp {
  /** Patterns of its routes and middleware: a path that fits none of them need not be shown to it. */
  paths: string[];
  /** Its routes as an OpenAPI document, if it describes them. */
  openApi: Record<string, unknown> | null;
}

export interface EmbedRequest {
  source: EmbeddingsSource;
  texts: string[];
  /** Some models embed what is looked for otherwise than what is found. */
  as: 'documents' | 'query';
}

/** A child process with a project loaded in it. */
export interface GraphHost {
  /** Of the child process, for logs and metrics. */
  readonly pid: number;
  graphs(): GraphDescription[];
  /** Never throws: a host that is gone settles the run as `lost`. */
  startRun(request: RunRequest, backends: GraphBackends, handlers: RunHandlers): RunHandle;
  /** @throws GraphRequestError */
  getState(request: StateRequest, backends: GraphBackends): Promise<ThreadStateJson>;
  /** Newest first. @throws GraphRequestError */
  getHistory(request: HistoryRequest, backends: GraphBackends): Promise<ThreadStateJson[]>;
  /** Answers `{checkpoint, configurable, checkpoint_id}`. @throws GraphRequestError */
  updateState(request: StateUpdateRequest, backends: GraphBackends): Promise<Record<string, unknown>>;
  /** Loads the app and serves it on a Unix socket. @throws GraphLoadError */
  serveApp(app: ProjectExport, socketPath: string): Promise<ServedApp>;
  /** The vectors of the texts, in their order. @throws GraphLoadError, BackendError */
  embed(request: EmbedRequest): Promise<Float32Array[]>;
  /** @throws GraphRequestError */
  drawGraph(request: DrawingRequest): Promise<GraphDrawing>;
  /** @throws GraphRequestError */
  getSchemas(request: SchemasRequest): Promise<GraphSchemas>;
  /** By namespace. @throws GraphRequestError */
  getSubgraphs(request: SubgraphsRequest): Promise<Record<string, GraphSchemas>>;
  /** Resolves when the child's event loop has answered. */
  ping(): Promise<void>;
  /** Ends a child that does not answer, at once: its runs are `lost` as `unresponsive`. */
  kill(): Promise<void>;
  /** Drains open runs, then ends the child; after `graceMs` (default 5000) it is killed and its runs are `lost`. */
  close(graceMs?: number): Promise<void>;
}
