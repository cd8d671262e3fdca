/** The interface of a graph host for its parent (run-worker, agent-api, build). `protocol/` has the wire form. */
import type { CheckpointBackend, StoreBackend } from '@runyard/checkpointer';
import type { AuthenticateRequest, Authentication, Authorization, AuthorizeRequest, LoadedAuth } from './auth.ts';
import type {
  CryptAnswer,
  CryptJsonAnswer,
  CryptJsonRequest,
  CryptRequest,
  EncryptionContextRequest,
  LoadedEncryption,
} from './encryption.ts';
import type { HostUser } from './host-user.ts';
import type { Loopback } from './loopback-http.ts';
import type { ProjectExport } from './project/read-project.ts';
import type { EmbeddingsSource } from './project/store-settings.ts';

export interface GraphHostOptions {
  /**
   * Absolute path of the project's langgraph.json. Its folder is the child's working directory; relative paths and the
   * project's packages are resolved from there, wherever the root of the source is.
   */
  configPath: string;
  /** The whole environment of the child. The parent makes it from an allow-list; nothing is inherited. */
  environment: Record<string, string>;
  /** The user that the child runs as; default: this process's user. */
  user?: HostUser | undefined;
  /**
   * The deployment's own server: for SDK clients that the project's code makes without a URL, and behind the address in
   * the child's PORT and LANGGRAPH_API_URL.
   */
  loopback?: Loopback;
  /** The URL of the deployment for clients: messages and traces name it. */
  publicUrl?: string | undefined;
  /** V8 old-space limit of the child. */
  heapLimitMb?: number;
  /** Milliseconds that loading the graphs may take, and that the app, the auth and the encryption object may each. */
  startTimeoutMs?: number;
  /** Aborts the start: the child is killed, and GraphLoadError thrown. */
  startSignal?: AbortSignal;
  /** The defaults are right for production; tests use smaller ones. */
  limits?: {
    /** Bytes of events that a run may send before the parent has passed any on. */
    creditBytes?: number;
    /** Bytes of events that may wait in the child for credit before the run fails. */
    bufferBytes?: number;
    /** Bytes of one event; a larger one is left out, and an event of kind `stream.gap` says so. */
    eventBytes?: number;
    /** Bytes of console output per second that are passed on; the rest is counted and dropped. */
    logBytesPerSecond?: number;
    /** Milliseconds that a handler of the project's auth object may take. */
    authMs?: number;
    /** Milliseconds that a handler of its encryption object may take. */
    encryptionMs?: number;
  };
  onLog: (line: HostLog) => void;
  /** Is called when the child exits without having been asked to. Every open run has been settled as `lost` by then. */
  onExit?: (reason: string) => void;
}

export interface HostLog {
  level: 'debug' | 'info' | 'warn' | 'error';
  message: string;
  runId?: string;
  threadId?: string;
  graphId?: string;
  /** Fields that the project's code logged with the message, through the logger of the SDK. */
  data?: Record<string, unknown>;
}

export interface GraphDescription {
  graphId: string;
  description?: string;
  /** True when the project exports a function: the graph is made anew for each use, from its configuration. */
  isFactory: boolean;
}

/** The storage of one use of a graph. It is given with each request, so that each run has its own fence. */
export interface GraphBackends {
  /** Without it the graph runs without a checkpointer. */
  checkpoints?: CheckpointBackend;
  store: StoreBackend;
}

/** One attempt of an accepted run, as a graph host executes it. */
export interface ExecutionRequest {
  runId: string;
  threadId: string;
  assistantId: string;
  graphId: string;
  /** Counted from 1. A later attempt goes on from the checkpoints of the earlier ones. */
  attempt: number;
  /** True when the thread has no checkpoints: the run does not ask for them. */
  isThreadNew?: boolean;
  /** A JSON value, or undefined for none. */
  input?: unknown;
  command?: { resume?: unknown; update?: unknown; goto?: unknown };
  /** The LangGraph config; thread, run and checkpoint ids are in `configurable`. */
  config: {
    configurable: Record<string, unknown>;
    tags?: string[];
    recursion_limit?: number;
    /** Maximum number of tasks of one step that run at the same time. */
    max_concurrency?: number;
    /** The name of the run in traces and in the `events` mode; default: its graph's name. */
    run_name?: string;
    metadata?: Record<string, unknown>;
  };
  context?: unknown;
  /**
   * The modes that the client requested: `values`, `updates`, `messages`, `messages-tuple`, `custom`, `debug`,
   * `events`, `tasks`, `checkpoints`.
   */
  streamModes: string[];
  streamSubgraphs: boolean;
  /**
   * True when the run emits events of the event protocol (version 2) instead of those of `streamModes`, with those of
   * subgraphs among them.
   */
  emitsProtocolEvents?: boolean;
  interruptBefore?: '*' | string[];
  interruptAfter?: '*' | string[];
  durability: 'sync' | 'async' | 'exit';
  /** Destination of the trace, if the project's environment enables tracing; default: the environment's. */
  tracing?: {
    project?: string;
    exampleId?: string;
    /** The caller's own trace, as LangSmith's headers have it, that the run goes on below. */
    parent?: { trace: string; baggage?: string };
  };
  /** The W3C place of the run in a trace: what its code asks its own server for carries it. */
  traceparent?: string;
  /** Asks for the spans of the run (`onSpans`); left out when nobody wants them. */
  spans?: {
    /** Id of the span that the run's own are below. */
    parentSpanId: string;
    /** True when they carry prompts, answers, and arguments and results of tools. */
    withContent: boolean;
  };
}

/** A span of a run, ended: the graph, one of its nodes, or a call of a model or tool. Ids are 16 hex digits. */
export interface RunSpan {
  spanId: string;
  parentSpanId: string;
  name: string;
  kind: 'internal' | 'client';
  /** Milliseconds since 1970, with fractions. */
  startMs: number;
  endMs: number;
  /** Named by the GenAI conventions of OpenTelemetry. Nothing in them is masked. */
  attributes: Record<string, string | number | boolean | string[]>;
  error?: { type: string; message: string };
}

/** One event, already JSON. `protocol-event.ts` describes those of the event protocol. */
export interface RunEvent {
  /** The stream mode that the client requested, or that of an event of the event protocol. */
  mode: string;
  /** The name for the SSE `event:` field. */
  event: string;
  /** JSON text. */
  data: string;
}

export type ExecutionOutcome =
  | {
      /** The run came to its end or to an interrupt. */
      kind: 'done';
      /** JSON text of the final values, including `__interrupt__` when interrupted. */
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
      /** Has what the newest checkpoint asks, as at `done`: a parallel node may have asked. */
      interrupts: Uint8Array | null;
      checkpointId: string | null;
    }
  /** `abort` was called. The values, and what is asked, are those at that time. */
  | { kind: 'aborted'; values: Uint8Array | null; interrupts: Uint8Array | null; checkpointId: string | null }
  /** The run stopped at a step boundary after `drain`. It can go on elsewhere from its last checkpoint. */
  | { kind: 'drained' }
  /** A backend refused a write because another attempt owns the thread. */
  | { kind: 'fenced' }
  /** The child exited during the run, or its storage was unavailable. */
  | { kind: 'lost'; cause: LossCause; reason: string };

/**
 * The reason why an attempt did not come to its own end: its process ended or stopped answering, `storage` was
 * unavailable or too slow (`slowStorage`), what it wrote could not be encrypted, what it read is encrypted with a key
 * that was not to be had (`missingKey`), or its events could not be passed on.
 */
export type LossCause =
  | 'exited'
  | 'outOfMemory'
  | 'unresponsive'
  | 'storage'
  | 'slowStorage'
  | 'encryption'
  | 'missingKey'
  | 'undeliverable';

export interface RunHandle {
  /** Never rejects. Every event has been delivered to `onEvents` before it resolves. */
  settled: Promise<ExecutionOutcome>;
  /**
   * Resolves once none of the run's code executes any more, as far as the child knows. A run that is cut short settles
   * earlier.
   */
  stopped: Promise<void>;
  abort(reason: string): void;
  drain(): void;
}

export interface RunHandlers {
  /** Is called when the child starts the run. Nothing that happens in the child before is the run's fault. */
  onBegun?(): void;
  /**
   * Receives events in the order the graph emitted them. An event that follows a checkpoint is delivered only after
   * that checkpoint is durable. The host is held back while the promise is pending (byte credits).
   */
  onEvents(events: RunEvent[]): void | Promise<void>;
  /** Receives spans, in batches, the last of them before the run settles. */
  onSpans?(spans: RunSpan[]): void;
}

/** The configuration that a factory makes the graph from, as in runs: `configurable`, and `context` with it. */
export interface FactoryConfig {
  configurable: Record<string, unknown>;
  [key: string]: unknown;
}

export interface StateRequest {
  graphId: string;
  threadId: string;
  /** Without it, a factory gets only the thread. */
  config?: FactoryConfig | undefined;
  checkpointId?: string;
  checkpointNs?: string;
  subgraphs?: boolean;
}

export interface StateUpdateRequest extends StateRequest {
  values?: unknown;
  asNode?: string;
  /** Several updates in order make supersteps; default: one update of `values` and `asNode`. */
  supersteps?: { updates: { values?: unknown; command?: unknown; as_node?: string }[] }[];
}

export interface StateUpdate {
  /** `{checkpoint, configurable, checkpoint_id}` of the checkpoint that was written last. */
  written: Record<string, unknown>;
  /** The newest state, where it is known without reading it. */
  state?: ThreadStateJson;
}

export interface HistoryRequest {
  graphId: string;
  threadId: string;
  /** Without it, a factory gets only the thread. */
  config?: FactoryConfig | undefined;
  limit: number;
  beforeCheckpointId?: string;
  checkpointId?: string;
  checkpointNs?: string;
  metadata?: Record<string, unknown>;
  /** The keys of the values that are needed; others may be missing. Left out: all. */
  keys?: string[] | undefined;
  /** Bytes of JSON after which no older state follows. The newest is returned whatever its size. */
  maxBytes?: number | undefined;
}

/** Describes a graph for an assistant, without running it. */
export interface DescribeRequest {
  graphId: string;
  /** The configuration that runs of the assistant would have. */
  config: FactoryConfig;
}

export interface DrawingRequest extends DescribeRequest {
  /** True replaces nodes by the graphs inside them; a number does so down to that depth. */
  xray: boolean | number;
}

export interface SchemasRequest extends DescribeRequest {
  /** Milliseconds that reading the graph's source may take, when the graph does not carry its schemas. */
  sourceTimeoutMs: number;
}

export interface StoreSchemasRequest {
  /** Milliseconds that reading the source of each graph may take. */
  sourceTimeoutMs: number;
  /** Reads with a lower priority than the graphs have. Default: false. */
  inBackground?: boolean;
}

export interface SubgraphsRequest extends SchemasRequest {
  /** A node, or `outer|inner` for a deeper one; default: every node. */
  namespace?: string;
  /** True when to describe the subgraphs of subgraphs too. */
  recurse: boolean;
}

/** The keys that a graph's input may have; null when the graph does not say. */
export type GraphInputKeys = string[] | null;

/** Nodes and edges as JSON of the wire (`GraphDrawing` in contracts). */
export type GraphDrawing = { nodes: Record<string, unknown>[]; edges: Record<string, unknown>[] };

/** JSON Schemas; null for those that are not known. */
export type GraphSchemas = Record<
  'input_schema' | 'output_schema' | 'state_schema' | 'config_schema' | 'context_schema',
  Record<string, unknown> | null
>;

/**
 * A state snapshot as JSON of the wire (`ThreadState` in contracts). Its `values` and `metadata.writes` are `JsonText`.
 */
export type ThreadStateJson = Record<string, unknown>;

/** A route of the project's app. */
export interface AppRoute {
  /** In capitals; `ALL` for every method. */
  method: string;
  /** A pattern. */
  path: string;
}

/** The project's HTTP app, which listens. */
export interface ServedApp {
  /** Patterns of its routes and middleware. The app need not see a path that matches none of them. */
  paths: string[];
  /** Its routes without its middleware; null when nobody can tell the two apart. */
  routes: AppRoute[] | null;
  /** An OpenAPI document of its routes, or null when the app does not describe them. */
  openApi: Record<string, unknown> | null;
  /** True when the app answers websockets. */
  hasWebSockets: boolean;
}

export interface EmbedRequest {
  source: EmbeddingsSource;
  texts: string[];
  /** Some models embed queries in another way than documents. */
  as: 'documents' | 'query';
}

/** A child process with a project loaded in it. */
export interface GraphHost {
  /** Process id of the child, for logs and metrics. */
  readonly pid: number;
  graphs(): GraphDescription[];
  /** Never throws: a host that has exited settles the run as `lost`. */
  startRun(request: ExecutionRequest, backends: GraphBackends, handlers: RunHandlers): RunHandle;
  /** @throws GraphRequestError */
  getState(request: StateRequest, backends: GraphBackends): Promise<ThreadStateJson>;
  /** Returns the newest first. @throws GraphRequestError */
  getHistory(request: HistoryRequest, backends: GraphBackends): Promise<ThreadStateJson[]>;
  /** @throws GraphRequestError */
  updateState(request: StateUpdateRequest, backends: GraphBackends): Promise<StateUpdate>;
  /** Loads the app and serves it on a Unix socket. @throws GraphLoadError */
  serveApp(app: ProjectExport, socketPath: string): Promise<ServedApp>;
  /** Loads the project's auth object. @throws GraphLoadError */
  loadAuth(source: ProjectExport): Promise<LoadedAuth>;
  /** Asks the project who calls. @throws AuthHandlerError */
  authenticate(request: AuthenticateRequest): Promise<Authentication>;
  /** Asks the project whether a user may do something, and on what. @throws AuthHandlerError */
  authorize(request: AuthorizeRequest): Promise<Authorization>;
  /** Loads the project's encryption object. @throws GraphLoadError */
  loadEncryption(source: ProjectExport): Promise<LoadedEncryption>;
  /** Asks the project for the context of what a request writes. @throws EncryptionHandlerError */
  encryptionContext(request: EncryptionContextRequest): Promise<Record<string, unknown>>;
  /** Has the project encrypt or decrypt bytes. @throws EncryptionHandlerError */
  crypt(request: CryptRequest): Promise<CryptAnswer>;
  /** Has the project encrypt or decrypt JSON; an error concerns its object alone. @throws EncryptionHandlerError */
  cryptJson(request: CryptJsonRequest): Promise<CryptJsonAnswer[]>;
  /** Returns the vectors of the texts, in their order. @throws GraphLoadError, BackendError */
  embed(request: EmbedRequest): Promise<Float32Array[]>;
  /** @throws GraphRequestError */
  drawGraph(request: DrawingRequest): Promise<GraphDrawing>;
  /** Looks at the compiled graph alone, never at its source. @throws GraphRequestError */
  getInputKeys(request: DescribeRequest): Promise<GraphInputKeys>;
  /** @throws GraphRequestError */
  getSchemas(request: SchemasRequest): Promise<GraphSchemas>;
  /** Returns schemas by namespace. @throws GraphRequestError */
  getSubgraphs(request: SubgraphsRequest): Promise<Record<string, GraphSchemas>>;
  /**
   * Stores the schemas that have to be read from the source of the graphs in the project's folder, where later hosts
   * find them. Returns how many graphs have some; the log warns of those that cannot be read.
   *
   * @throws GraphRequestError
   */
  storeSchemas(request: StoreSchemasRequest): Promise<number>;
  /** Resolves when the child's event loop has answered. */
  ping(): Promise<void>;
  /** Kills a child that does not answer: its runs are `lost` as `unresponsive`. */
  kill(): Promise<void>;
  /** Drains open runs, then ends the child; after `graceMs` (default 5000) it is killed and its runs are `lost`. */
  close(graceMs?: number): Promise<void>;
}
