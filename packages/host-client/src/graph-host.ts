/** The parent's side of a graph host: it starts the child, sends it work, and answers its storage requests. */
import { dirname, relative } from 'node:path';
import {
  type Answer,
  type AuthenticateRequest,
  type Authentication,
  type Authorization,
  type AuthorizeRequest,
  checksAtParent,
  chooseVersion,
  type DescribeRequest,
  type DrawingRequest,
  type EncryptionContextRequest,
  type ExecutionRequest,
  type GraphDescription,
  type GraphDrawing,
  type GraphInputKeys,
  type GraphSchemas,
  type GraphTools,
  type HistoryRequest,
  HostConnection,
  type Incoming,
  type LoadedAuth,
  type LoadedEncryption,
  PROTOCOL_VERSIONS,
  type ProjectExport,
  type SchemasRequest,
  type ServedApp,
  type StateDocument,
  type StateRequest,
  type StateUpdateRequest,
  type StoreSchemasRequest,
  type SubgraphsRequest,
  type ToParent,
} from '@runyard/host-protocol';
import { type Project, readProject, withoutEncryptionKeys } from '@runyard/project';
import { AuthRequests } from './ask-auth.ts';
import { EncryptionRequests } from './ask-encryption.ts';
import { BackendUses } from './backend-uses.ts';
import { ChildOutput, LOG_BYTES_PER_SECOND } from './child-output.ts';
import { type SpawnedChild, spawnChild } from './child-process.ts';
import { requestEmbeddings } from './embed-texts.ts';
import type { CryptAnswer, CryptJsonAnswer, CryptJsonRequest, CryptRequest } from './encryption.ts';
import { type HostCommand, javaScriptHost } from './host-command.ts';
import { loadField, loadInTime } from './loading.ts';
import { type ObjectSchemas, toObjectSchemas } from './object-schemas.ts';
import { pythonHost } from './python-host.ts';
import { loadError, requestError } from './remote-errors.ts';
import { ParentRun } from './run.ts';
import type {
  EmbedRequest,
  ExecutionOutcome,
  GraphBackends,
  GraphHost,
  GraphHostOptions,
  RunHandle,
  RunHandlers,
  StateUpdate,
  ThreadStateJson,
} from './types.ts';
import { unpackStates } from './unpack-states.ts';

const DEFAULT_START_TIMEOUT_MS = 60_000;
const LIMITS = {
  creditBytes: 1024 * 1024,
  bufferBytes: 64 * 1024 * 1024,
  eventBytes: 128 * 1024 * 1024,
  logBytesPerSecond: LOG_BYTES_PER_SECOND,
};

class ChildGraphHost implements GraphHost {
  readonly #options: GraphHostOptions;
  readonly #project: Project;
  readonly #limits: typeof LIMITS;
  /** Milliseconds that loading the project may take, and then each of its objects that is asked for later. */
  readonly #loadMs: number;
  readonly #child: SpawnedChild;
  readonly #connection: HostConnection;
  readonly #runs = new Map<number, ParentRun>();
  readonly #uses: BackendUses;
  readonly #auth: AuthRequests;
  readonly #encryption: EncryptionRequests;
  #graphs: GraphDescription[] = [];
  #libraries: Record<string, string> = {};
  #isClosing = false;
  #isUnresponsive = false;
  readonly #output: ChildOutput;
  /** Why the child has exited; undefined while it runs. */
  #exitReason: string | undefined;
  #resolveHello!: (version: number) => void;
  readonly #versionChosen = new Promise<number>((resolve) => {
    this.#resolveHello = resolve;
  });

  constructor(options: GraphHostOptions, project: Project, host: HostCommand) {
    this.#options = options;
    this.#project = project;
    this.#limits = { ...LIMITS, ...options.limits };
    this.#loadMs = options.startTimeoutMs ?? DEFAULT_START_TIMEOUT_MS;
    this.#output = new ChildOutput(host, this.#limits.logBytesPerSecond, options.onLog);
    const child = spawnChild({
      host,
      directory: dirname(options.configPath),
      environment: options.environment,
      user: options.user,
      wrapCommand: options.wrapCommand,
      onOutput: (level, message) => this.#output.add(level, message),
    });
    if (child.process.pid !== undefined) options.onSpawn?.(child.process.pid);
    let whyKilled: string | undefined;
    this.#child = { ...child, exited: child.exited.then((reason) => whyKilled ?? reason) };
    this.#connection = new HostConnection({
      socket: this.#child.socket,
      checks: checksAtParent(),
      onMessage: (message) => this.#receive(message),
      onClose: (_reason, fault) => {
        whyKilled = fault;
        this.#child.process.kill('SIGKILL');
      },
    });
    this.#uses = new BackendUses(this.#connection);
    const loadMs = this.#loadMs;
    this.#auth = new AuthRequests(this.#connection, { loadMs, timeoutMs: options.limits?.authMs });
    this.#encryption = new EncryptionRequests(this.#connection, { loadMs, timeoutMs: options.limits?.encryptionMs });
    void this.#child.exited.then((reason) => this.#onExit(reason));
  }

  /** Loads the project. @throws GraphLoadError */
  async start(): Promise<void> {
    const { startSignal: signal } = this.#options;
    const { lastLines } = this.#output;
    try {
      await loadInTime(this.#load(), this.#child, { timeoutMs: this.#loadMs, signal, lastLines });
    } catch (error) {
      this.#isClosing = true;
      this.#child.process.kill('SIGKILL');
      // Its variables may be what the project misses. Where they were sent with the deployment, it need not exist.
      const { missingEnvFile: file, directory } = this.#project;
      if (file !== null) {
        this.#options.onLog({ level: 'info', message: `There is no env file ${relative(directory, file)}.` });
      }
      throw loadError(error);
    }
  }

  async #load(): Promise<void> {
    const { loopback, publicUrl } = this.#options;
    const { directory, graphs, env, checkpointer } = this.#project;
    const protocol = await this.#versionChosen;
    const header = {
      t: 'init',
      protocol,
      project: {
        directory,
        graphs,
        env: withoutEncryptionKeys(env),
        revivableModules: checkpointer?.serde?.allowed_json_modules ?? [],
        ...(this.#project.language === 'python' && { python: pythonSettings(this.#project) }),
      },
      loopback: loopback ?? null,
      publicUrl: publicUrl ?? null,
      limits: this.#limits,
    };
    this.#graphs = (await this.#connection.request(0, header)).ok as GraphDescription[];
  }

  get pid(): number {
    return this.#child.process.pid ?? 0;
  }

  get libraries(): Record<string, string> {
    return this.#libraries;
  }

  beats(): number | undefined {
    return this.#child.beats();
  }

  graphs(): GraphDescription[] {
    return this.#graphs;
  }

  async serveApp(app: ProjectExport, socketPath: string | null): Promise<ServedApp> {
    const loading = this.#connection.request(0, { t: 'app.serve', app, socketPath });
    return (await loadField(loading, 'http.app', this.#loadMs)).ok as ServedApp;
  }

  loadAuth(source: ProjectExport): Promise<LoadedAuth> {
    return this.#auth.load(source);
  }

  authenticate(request: AuthenticateRequest): Promise<Authentication> {
    return this.#auth.authenticate(request);
  }

  authorize(request: AuthorizeRequest): Promise<Authorization> {
    return this.#auth.authorize(request);
  }

  loadEncryption(source: ProjectExport): Promise<LoadedEncryption> {
    return this.#encryption.load(source);
  }

  encryptionContext(request: EncryptionContextRequest): Promise<Record<string, unknown>> {
    return this.#encryption.contextOf(request);
  }

  crypt(request: CryptRequest): Promise<CryptAnswer> {
    return this.#encryption.crypt(request);
  }

  cryptJson(request: CryptJsonRequest): Promise<CryptJsonAnswer[]> {
    return this.#encryption.cryptJson(request);
  }

  startRun(request: ExecutionRequest, backends: GraphBackends, handlers: RunHandlers): RunHandle {
    const use = this.#uses.newNumber();
    const run = new ParentRun({
      connection: this.#connection,
      use,
      creditBytes: this.#limits.creditBytes,
      handlers,
    });
    if (this.#exitReason !== undefined) {
      run.loseChild(this.#lostOutcome(this.#exitReason));
      return run;
    }
    this.#runs.set(use, run);
    this.#uses.open({
      use,
      backends,
      trackPut: (committed) => run.trackPut(committed),
      onBackendError: (error) => run.receiveStorageError(error),
    });
    void run.settled.then(() => this.#uses.close(use));
    void run.stopped.then(() => this.#runs.delete(use));
    this.#connection.send(use, { t: 'run.start', use, hasCheckpoints: backends.checkpoints !== undefined, request });
    return run;
  }

  async getState(request: StateRequest, backends: GraphBackends): Promise<ThreadStateJson> {
    const { ok, raw } = await this.#stateRequest('state.get', request, backends);
    return unpackStates(ok as StateDocument[], raw)[0] as ThreadStateJson;
  }

  async getHistory(request: HistoryRequest, backends: GraphBackends): Promise<ThreadStateJson[]> {
    const { ok, raw } = await this.#stateRequest('state.history', request, backends);
    return unpackStates(ok as StateDocument[], raw);
  }

  async updateState(request: StateUpdateRequest, backends: GraphBackends): Promise<StateUpdate> {
    const { ok, raw } = await this.#stateRequest('state.update', request, backends);
    const { written, states } = ok as { written: Record<string, unknown>; states: StateDocument[] };
    const [state] = unpackStates(states, raw);
    return { written, ...(state && { state }) };
  }

  embed(request: EmbedRequest): Promise<Float32Array[]> {
    return requestEmbeddings(this.#connection, request);
  }

  drawGraph(request: DrawingRequest): Promise<GraphDrawing> {
    return this.#describe('graph.draw', request) as Promise<GraphDrawing>;
  }

  getInputKeys(request: DescribeRequest): Promise<GraphInputKeys> {
    return this.#describe('graph.input_keys', request) as Promise<GraphInputKeys>;
  }

  getTools(request: DescribeRequest): Promise<GraphTools> {
    return this.#describe('graph.tools', request) as Promise<GraphTools>;
  }

  async getSchemas(request: SchemasRequest): Promise<ObjectSchemas> {
    return toObjectSchemas((await this.#describe('graph.schemas', request)) as GraphSchemas);
  }

  async getSubgraphs(request: SubgraphsRequest): Promise<Record<string, ObjectSchemas>> {
    const subgraphs = (await this.#describe('graph.subgraphs', request)) as Record<string, GraphSchemas>;
    const entries = Object.entries(subgraphs).map(([namespace, schemas]) => [namespace, toObjectSchemas(schemas)]);
    return Object.fromEntries(entries) as Record<string, ObjectSchemas>;
  }

  storeSchemas(request: StoreSchemasRequest): Promise<number> {
    return this.#describe('graph.store_schemas', request) as Promise<number>;
  }

  async ping(): Promise<void> {
    await this.#connection.request(0, { t: 'ping' });
  }

  async kill(): Promise<void> {
    if (this.#exitReason !== undefined) return;
    this.#isUnresponsive = true;
    await this.close(0);
  }

  async close(graceMs = 5_000): Promise<void> {
    this.#isClosing = true;
    if (this.#exitReason !== undefined) return;
    const kill = setTimeout(() => this.#child.process.kill('SIGKILL'), graceMs);
    await Promise.race([this.#drainRuns(), this.#child.exited]);
    this.#connection.request(0, { t: 'shutdown' }).catch(() => {});
    await this.#child.exited;
    clearTimeout(kill);
  }

  async #drainRuns(): Promise<void> {
    for (const run of this.#runs.values()) run.drain();
    await Promise.all([...this.#runs.values()].map((run) => run.settled));
  }

  async #describe(type: string, request: object): Promise<unknown> {
    try {
      return (await this.#connection.request(0, { t: type, request })).ok;
    } catch (error) {
      throw requestError(error);
    }
  }

  async #stateRequest(type: string, request: object, backends: GraphBackends): Promise<Answer> {
    const use = this.#uses.newNumber();
    this.#uses.open({ use, backends });
    try {
      return await this.#connection.request(use, { t: type, use, request });
    } catch (error) {
      throw requestError(error);
    } finally {
      this.#uses.close(use);
    }
  }

  #receive(message: Incoming): void {
    const header = message.header as unknown as ToParent[keyof ToParent];
    switch (header.t) {
      case 'hello':
        this.#receiveHello(header);
        break;
      case 'log': {
        const { t: _type, ...line } = header;
        this.#options.onLog(line);
        break;
      }
      case 'run.begun':
        this.#runs.get(header.use)?.receiveBegun();
        break;
      case 'run.events':
        this.#runs.get(header.use)?.receiveEvents(header, message.raw);
        break;
      case 'run.spans':
        this.#runs.get(header.use)?.receiveSpans(header);
        break;
      case 'run.usage':
        this.#runs.get(header.use)?.receiveUsage(header);
        break;
      case 'run.settled':
        this.#runs.get(header.use)?.receiveSettled(header, message.raw);
        break;
      case 'run.stopped':
        this.#runs.get(header.use)?.receiveStopped();
        break;
      default:
        this.#uses.answer(message);
    }
  }

  #receiveHello(hello: ToParent['hello']): void {
    const version = chooseVersion(hello);
    this.#libraries = hello.libraries ?? {};
    if (version !== undefined) {
      this.#resolveHello(version);
      return;
    }
    const spoken = (hello.protocols ?? [hello.protocol]).join(', ');
    this.#connection.closeOnFault(`speaks protocol ${spoken}, not ${PROTOCOL_VERSIONS.join(', ')}`);
  }

  #onExit(reason: string): void {
    this.#exitReason = this.#isUnresponsive
      ? 'the graph host did not answer and was killed'
      : `the graph host ${reason}`;
    if (this.#output.ranOutOfMemory) this.#exitReason += ': it ran out of memory';
    this.#output.close();
    this.#connection.close(this.#exitReason);
    for (const run of [...this.#runs.values()]) run.loseChild(this.#lostOutcome(this.#exitReason));
    if (!this.#isClosing) this.#options.onExit?.(reason);
  }

  #lostOutcome(reason: string): ExecutionOutcome {
    const cause = this.#output.ranOutOfMemory ? 'outOfMemory' : this.#isUnresponsive ? 'unresponsive' : 'exited';
    return { kind: 'lost', cause, reason };
  }
}

/** Returns the part of `init` that only projects in Python have. */
function pythonSettings({ python, checkpointer }: Project): object {
  const path = python?.importPaths ?? [];
  const { allowed_msgpack_modules: msgpackModules, pickle_fallback: pickles } = checkpointer?.serde ?? {};
  return { path, ...(msgpackModules !== undefined && { msgpackModules }), ...(pickles !== undefined && { pickles }) };
}

/** Starts a host for the project's language, and loads the project. @throws GraphLoadError */
export async function startGraphHost(options: GraphHostOptions): Promise<GraphHost> {
  const { configPath, environment, heapLimitMb } = options;
  const project = await readProject(dirname(configPath), configPath, environment);
  const isPython = project.language === 'python';
  const command = isPython
    ? await pythonHost(project.directory, environment, heapLimitMb)
    : javaScriptHost(heapLimitMb);
  const host = new ChildGraphHost(options, project, options.host ?? command);
  await host.start();
  return host;
}
