/** Handles each message of the parent. */
import { BackendError } from '@runyard/checkpointer/graph-process';
import {
  type AuthUser,
  type DrawingRequest,
  type ErrorBody,
  GraphLoadError,
  GraphRequestError,
  type HistoryRequest,
  type HostConnection,
  type HostLog,
  type Incoming,
  packVectors,
  type StateRequest,
  type StateUpdateRequest,
  type SubgraphsRequest,
  type ToHost,
} from '@runyard/host-protocol/graph-process';
import { serveProjectApp } from './app/app-server.ts';
import { bindLoopback, type LoopbackClient } from './app/loopback-client.ts';
import { openOwnAddress } from './app/own-address.ts';
import { loadProjectApp } from './app/project-app.ts';
import { openAuth } from './auth/project-auth.ts';
import { GraphDescriber } from './describe/describe-graph.ts';
import { SourceSchemas } from './describe/source-schemas.ts';
import { describeRunFailure } from './describe-failure.ts';
import { embedTexts, openEmbeddings } from './embeddings/open-embeddings.ts';
import { type JsonToCrypt, openEncryption } from './encryption/project-encryption.ts';
import { preloadLangGraph } from './langgraph/preload-langgraph.ts';
import { type LoadedGraph, loadGraphs } from './loading/load-graphs.ts';
import { registerTextModules } from './loading/register-text-modules.ts';
import { captureConsole, printAs } from './process/console.ts';
import { registerSdkLogger } from './process/sdk-logger.ts';
import { GraphRun } from './run/run.ts';
import { sendSettlement } from './run/settlement.ts';
import { getHistory, getState, updateState } from './state/state-requests.ts';
import { RemoteCheckpoints, RemoteStore } from './storage/backends.ts';
import { errorBody } from './wire/error-body.ts';

type ToDescribe = ToHost['graph.draw' | 'graph.input_keys' | 'graph.tools' | 'graph.schemas' | 'graph.subgraphs'];

export class Host {
  readonly #connection: HostConnection;
  readonly #exit: () => void;
  readonly #runs = new Map<number, GraphRun>();
  readonly #describer = new GraphDescriber(
    new SourceSchemas(
      () => this.#graphs.values(),
      () => this.#directory,
      (message) => this.log({ level: 'warn', message }),
    ),
  );
  #graphs = new Map<string, LoadedGraph>();
  #limits: ToHost['init']['limits'] | undefined;
  #directory = '';
  #loopback: LoopbackClient | undefined;
  #publicUrl: string | null = null;
  /** Logs a line from the budget of what the project prints. */
  #print: (line: HostLog) => void = (line) => this.log(line);

  constructor(connection: HostConnection, exit: () => void) {
    this.#connection = connection;
    this.#exit = exit;
  }

  log(line: HostLog): void {
    this.#connection.send(0, { t: 'log', ...line });
  }

  /** Ends the run with this error. Does nothing when the run has ended already. */
  failRun(runId: string, error: Error): void {
    for (const run of this.#runs.values()) if (run.runId === runId) run.fail(error);
  }

  receive({ header, raw }: Incoming): void {
    const message = header as unknown as ToHost[keyof ToHost];
    switch (message.t) {
      case 'init':
        void this.#answer(0, message.id, () => this.#init(message));
        break;
      case 'ping':
        this.#connection.answer(0, message.id, null);
        break;
      case 'app.serve':
        void this.#answer(0, message.id, () => this.#serveApp(message));
        break;
      case 'auth.load':
        void this.#answer(0, message.id, async () => {
          const { events } = await openAuth(message.source, this.#directory);
          return { events };
        });
        break;
      case 'auth.authenticate':
        void this.#answer(0, message.id, async () => {
          const auth = await openAuth(message.source, this.#directory);
          return auth.authenticate(message.request);
        });
        break;
      case 'auth.authorize':
        void this.#authorize(message, raw);
        break;
      case 'encryption.load':
        void this.#answer(0, message.id, async () => {
          const { hasContext, hasJson } = await openEncryption(message.source, this.#directory);
          return { hasContext, hasJson };
        });
        break;
      case 'encryption.context':
        void this.#answer(0, message.id, async () => {
          const encryption = await openEncryption(message.source, this.#directory);
          return encryption.contextOf({ ...message.request, user: message.request.user as AuthUser | null });
        });
        break;
      case 'encryption.encrypt':
      case 'encryption.decrypt':
        void this.#crypt(message, raw);
        break;
      case 'encryption.json':
        void this.#answer(0, message.id, async () => {
          const encryption = await openEncryption(message.source, this.#directory);
          const objects = JSON.parse(raw.toString('utf8')) as JsonToCrypt[];
          const answers = await encryption.json(message.action, message.metadata, objects);
          return new AnswerWithBytes(null, [Buffer.from(JSON.stringify(answers))]);
        });
        break;
      case 'embed.texts':
        void this.#embed(message);
        break;
      case 'graph.draw':
      case 'graph.input_keys':
      case 'graph.tools':
      case 'graph.schemas':
      case 'graph.subgraphs':
        void this.#describeGraph(message);
        break;
      case 'graph.store_schemas':
        void this.#answer(0, message.id, () => this.#describer.storeSchemas(this.#graphs.values(), message.request));
        break;
      case 'run.start':
        this.#startRun(message);
        break;
      case 'run.credit':
        this.#runs.get(message.use)?.grant(message.bytes);
        break;
      case 'run.abort':
        this.#runs.get(message.use)?.abort(message.reason);
        break;
      case 'run.drain':
        this.#runs.get(message.use)?.drain();
        break;
      case 'state.get':
      case 'state.history':
      case 'state.update':
        void this.#stateRequest(message);
        break;
      case 'shutdown':
        this.#connection.answer(0, message.id, null);
        setImmediate(() => setImmediate(this.#exit));
        break;
      default:
        this.#connection.refuseUnknown(header);
    }
  }

  async #init({ project, limits, loopback, publicUrl }: ToHost['init']): Promise<unknown> {
    this.#limits = limits;
    this.#directory = project.directory;
    this.#publicUrl = publicUrl;
    this.#loopback = loopback === null ? undefined : bindLoopback(loopback, publicUrl ?? undefined);
    this.#print = captureConsole({ bytesPerSecond: limits.logBytesPerSecond, send: (line) => this.log(line) });
    registerSdkLogger(this.#print);
    // Variables of the deployment win over those of the project.
    for (const [name, value] of Object.entries(project.env)) process.env[name] ??= value;
    await this.#setOwnAddress();
    await preloadLangGraph(project.graphs);
    await import(import.meta.resolve('tsx'));
    registerTextModules();
    this.#graphs = await loadGraphs(project, (message) => this.log({ level: 'warn', message }));
    return [...this.#graphs.values()].map(({ graphId, description, isFactory }) => ({
      graphId,
      description,
      isFactory,
    }));
  }

  /** Sets the variables by which code finds its own server, where the project has not set them itself. */
  async #setOwnAddress(): Promise<void> {
    try {
      const port = await openOwnAddress(this.#loopback);
      process.env.PORT ??= String(port);
      process.env.LANGGRAPH_API_URL ??= `http://127.0.0.1:${port}`;
    } catch (error) {
      const { message } = error as Error;
      this.log({ level: 'warn', message: `PORT and LANGGRAPH_API_URL lead nowhere in this process: ${message}` });
    }
  }

  async #serveApp({ app: source, socketPath }: ToHost['app.serve']): Promise<unknown> {
    const loopback = this.#loopback;
    if (loopback === undefined) throw new GraphLoadError('An app needs a server that it can pass requests on to.');
    const app = await loadProjectApp(source, this.#directory, {
      passOn: (request, body) => loopback.passOn(request, body),
      log: (message) => this.log({ level: 'error', message }),
    });
    if (socketPath !== null) await serveProjectApp(app, socketPath, loopback);
    const { paths, routes = null, openApi } = app;
    return { paths, routes, openApi, hasWebSockets: app.attachWebSockets !== null };
  }

  async #authorize({ id, source, request }: ToHost['auth.authorize'], raw: Buffer): Promise<void> {
    try {
      const auth = await openAuth(source, this.#directory);
      const { resource, action, user } = request;
      const value = JSON.parse(raw.toString('utf8')) as Record<string, unknown>;
      const answer = await auth.authorize({ resource, action, user: user as AuthUser, value });
      if (answer.kind !== 'allowed') this.#connection.answer(0, id, answer);
      else {
        const { value: changed, ...allowed } = answer;
        this.#connection.answer(0, id, allowed, [Buffer.from(JSON.stringify(changed))]);
      }
    } catch (error) {
      this.#connection.answerError(0, id, describeError(error));
    }
  }

  async #crypt(message: ToHost['encryption.encrypt' | 'encryption.decrypt'], raw: Buffer): Promise<void> {
    const { t, id, source, metadata } = message;
    try {
      const encryption = await openEncryption(source, this.#directory);
      // Handlers may keep what they get, or write to it.
      const bytes = Uint8Array.from(raw);
      const parts: Uint8Array[] = [];
      if (t === 'encryption.encrypt') parts.push(await encryption.encrypt(metadata, bytes));
      else {
        const { plaintext, replacement } = await encryption.decrypt(metadata, bytes);
        parts.push(plaintext, ...(replacement ? [replacement] : []));
      }
      this.#connection.answer(0, id, parts[0]!.byteLength, parts);
    } catch (error) {
      this.#connection.answerError(0, id, describeError(error));
    }
  }

  async #embed({ id, source, texts, as }: ToHost['embed.texts']): Promise<void> {
    try {
      const embeddings = await openEmbeddings(source);
      const { lengths, parts } = packVectors(await embedTexts(embeddings, texts, as));
      this.#connection.answer(0, id, lengths, parts);
    } catch (error) {
      this.#connection.answerError(0, id, describeError(error));
    }
  }

  #startRun({ use, request, hasCheckpoints }: ToHost['run.start']): void {
    const graph = this.#graphs.get(request.graphId);
    if (graph === undefined) {
      const error = errorBody(noSuchGraph(request.graphId), 'not_found');
      sendSettlement(this.#connection, use, { kind: 'failed', error });
      return;
    }
    const limits = this.#limits as ToHost['init']['limits'];
    const connection = this.#connection;
    const publicUrl = this.#publicUrl;
    const { runId, threadId, graphId, traceparent, config } = request;
    const user = config.configurable.langgraph_auth_user as AuthUser | undefined;
    const start = () => {
      const run = new GraphRun({
        connection,
        use,
        request,
        hasCheckpoints,
        graph,
        limits,
        publicUrl,
        onThrown: (error) => this.#print({ level: 'error', message: describeRunFailure(error, this.#directory) }),
      });
      this.#runs.set(use, run);
      connection.send(use, { t: 'run.begun', use });
      // Wait until the messages of this turn have been sent: code that never returns to the event loop would keep them
      // here. An abort that arrived together with the start is handled by then, too.
      setImmediate(() => void run.execute().finally(() => this.#runs.delete(use)));
    };
    printAs({ runId, threadId, graphId }, start, { traceparent, user });
  }

  async #describeGraph({ t, id, request }: ToDescribe): Promise<void> {
    await this.#answer(0, id, async () => {
      const asked = request as unknown as DrawingRequest & SubgraphsRequest;
      const graph = this.#graphs.get(asked.graphId);
      if (graph === undefined) throw noSuchGraph(asked.graphId);
      if (t === 'graph.draw') return this.#describer.draw(graph, asked);
      if (t === 'graph.input_keys') return this.#describer.inputKeys(graph, asked);
      if (t === 'graph.tools') return this.#describer.tools(graph, asked);
      if (t === 'graph.schemas') return this.#describer.schemas(graph, asked);
      return this.#describer.subgraphs(graph, asked);
    });
  }

  async #stateRequest({ t, id, use, request }: ToHost['state.get' | 'state.history' | 'state.update']): Promise<void> {
    const stateRequest = request as unknown as StateRequest & HistoryRequest & StateUpdateRequest;
    await this.#answer(use, id, async () => {
      const graph = this.#graphs.get(stateRequest.graphId);
      if (graph === undefined) throw noSuchGraph(stateRequest.graphId);
      const backends = {
        checkpoints: new RemoteCheckpoints(this.#connection, use, { keepsNewest: t === 'state.update' }),
        store: new RemoteStore(this.#connection, use),
      };
      if (t === 'state.update') {
        const { written, state } = await updateState(graph, stateRequest, backends);
        return new AnswerWithBytes({ written, states: state ? [state.document] : [] }, state?.parts ?? []);
      }
      const states =
        t === 'state.get'
          ? [await getState(graph, stateRequest, backends)]
          : await getHistory(graph, stateRequest, backends);
      return new AnswerWithBytes(
        states.map(({ document }) => document),
        states.flatMap(({ parts }) => parts),
      );
    });
  }

  async #answer(lane: number, id: number, work: () => Promise<unknown>): Promise<void> {
    try {
      const result = await work();
      if (result instanceof AnswerWithBytes) this.#connection.answer(lane, id, result.ok, result.raw);
      else this.#connection.answer(lane, id, result);
    } catch (error) {
      this.#connection.answerError(lane, id, describeError(error));
    }
  }
}

/** A result with raw bytes behind it. */
class AnswerWithBytes {
  readonly ok: unknown;
  readonly raw: Uint8Array[];
  constructor(ok: unknown, raw: Uint8Array[]) {
    this.ok = ok;
    this.raw = raw;
  }
}

function noSuchGraph(graphId: string): GraphRequestError {
  return new GraphRequestError('not_found', `The project has no graph "${graphId}"`);
}

function describeError(error: unknown): ErrorBody {
  if (error instanceof GraphLoadError) return { ...errorBody(error, 'load'), graphId: error.graphId };
  if (error instanceof GraphRequestError) {
    return { ...errorBody(error, error.reason), ...(error.step && { step: error.step }) };
  }
  if (error instanceof BackendError) return errorBody(error, error.reason);
  return errorBody(error);
}
