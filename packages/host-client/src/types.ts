/** The interface of a graph host for its parent (run-worker, agent-api, build). `packages/host-protocol` has the wire form. */
import type { CheckpointBackend, StoreBackend } from '@runyard/checkpointer';
import type {
  AuthenticateRequest,
  Authentication,
  Authorization,
  AuthorizeRequest,
  DescribeRequest,
  DrawingRequest,
  EmbeddingsSource,
  EncryptionContextRequest,
  ExecutionRequest,
  GraphDescription,
  GraphDrawing,
  GraphInputKeys,
  GraphTools,
  HistoryRequest,
  HostLog,
  LoadedAuth,
  LoadedEncryption,
  Loopback,
  ProjectExport,
  RunSpan,
  RunUsage,
  SchemasRequest,
  ServedApp,
  StateRequest,
  StateUpdateRequest,
  StoreSchemasRequest,
  SubgraphsRequest,
} from '@runyard/host-protocol';
import type { CryptAnswer, CryptJsonAnswer, CryptJsonRequest, CryptRequest } from './encryption.ts';
import type { HostCommand } from './host-command.ts';
import type { HostUser } from './host-user.ts';
import type { ObjectSchemas } from './object-schemas.ts';

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
  /** Starts the host of the project's language; default: that of JavaScript projects. */
  host?: HostCommand;
  /** Returns a command line that becomes the host's, in the same process: it may set limits before. Default: none. */
  wrapCommand?: (command: string[]) => [string, ...string[]];
  /** Limit of the heap of a JavaScript host, and of the resident memory of a Python host. */
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
  /** Is called when the child was spawned, with the id of its process. */
  onSpawn?: (pid: number) => void;
  /** Is called when the child exits without having been asked to. Every open run has been settled as `lost` by then. */
  onExit?: (reason: string) => void;
}

/** The storage of one use of a graph. It is given with each request, so that each run has its own fence. */
export interface GraphBackends {
  /** Without it the graph runs without a checkpointer. */
  checkpoints?: CheckpointBackend;
  store: StoreBackend;
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
  /** Receives what the attempt has used so far, again and again, the last time before the run settles. */
  onUsage?(usage: RunUsage): void;
}

export interface StateUpdate {
  /** `{checkpoint, configurable, checkpoint_id}` of the checkpoint that was written last. */
  written: Record<string, unknown>;
  /** The newest state, where it is known without reading it. */
  state?: ThreadStateJson;
}

/**
 * A state snapshot as JSON of the wire (`ThreadState` in contracts). Its `values` and `metadata.writes` are `JsonText`.
 */
export type ThreadStateJson = Record<string, unknown>;

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
  /** The releases of the libraries that execute the graphs, by their names, where the host tells them. */
  readonly libraries: Readonly<Record<string, string>>;
  graphs(): GraphDescription[];
  /** Never throws: a host that has exited settles the run as `lost`. */
  startRun(request: ExecutionRequest, backends: GraphBackends, handlers: RunHandlers): RunHandle;
  /** @throws GraphRequestError */
  getState(request: StateRequest, backends: GraphBackends): Promise<ThreadStateJson>;
  /** Returns the newest first. @throws GraphRequestError */
  getHistory(request: HistoryRequest, backends: GraphBackends): Promise<ThreadStateJson[]>;
  /** @throws GraphRequestError */
  updateState(request: StateUpdateRequest, backends: GraphBackends): Promise<StateUpdate>;
  /** Loads the app and serves it on a Unix socket; null: opens what it shares with the graphs. @throws GraphLoadError */
  serveApp(app: ProjectExport, socketPath: string | null): Promise<ServedApp>;
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
  /** Returns names of tools. @throws GraphRequestError, with the reason `unsupported` of a host that does not know this */
  getTools(request: DescribeRequest): Promise<GraphTools>;
  /** @throws GraphRequestError */
  getSchemas(request: SchemasRequest): Promise<ObjectSchemas>;
  /** Returns schemas by namespace. @throws GraphRequestError */
  getSubgraphs(request: SubgraphsRequest): Promise<Record<string, ObjectSchemas>>;
  /**
   * Stores the schemas that have to be read from the source of the graphs in the project's folder, where later hosts
   * find them. Returns how many graphs have some; the log warns of those that cannot be read.
   *
   * @throws GraphRequestError
   */
  storeSchemas(request: StoreSchemasRequest): Promise<number>;
  /**
   * Returns how many signs of life the child has given while code may block its event loop; undefined where only pings
   * tell.
   */
  beats(): number | undefined;
  /** Resolves when the child's event loop has answered. */
  ping(): Promise<void>;
  /** Kills a child that does not answer: its runs are `lost` as `unresponsive`. */
  kill(): Promise<void>;
  /** Drains open runs, then ends the child; after `graceMs` (default 5000) it is killed and its runs are `lost`. */
  close(graceMs?: number): Promise<void>;
}
