/** Executes one run in the child: from its request to its settlement. */
import { BackendError, createStore, type SerializedValue } from '@runyard/checkpointer/graph-process';
import { type ExecutionRequest, type HostConnection, streamPosition } from '@runyard/host-protocol/graph-process';
import { EventRenderer, type RenderedEvent, withInterruptSchema } from '../events/event-renderer.ts';
import { laterChunks, requestedModes, type StreamChunk } from '../events/older-streams.ts';
import { ProtocolEvents } from '../events/protocol-events.ts';
import { streamProtocol } from '../events/stream-protocol.ts';
import type { CompiledGraph, GraphConfig, GraphEvent } from '../langgraph/graph-types.ts';
import type { LoadedGraph } from '../loading/load-graphs.ts';
import { RunSpans } from '../spans/run-spans.ts';
import { SpanRecorder } from '../spans/span-recorder.ts';
import { RemoteCheckpoints, RemoteStore } from '../storage/backends.ts';
import { RunUsage } from '../usage/run-usage.ts';
import { errorBody } from '../wire/error-body.ts';
import { findBreakpoint, hasBreakpointsInside } from './breakpoints.ts';
import { EventBuffer } from './event-buffer.ts';
import { giveAnswers } from './give-answers.ts';
import { newestStateConfig, toGraphConfig } from './run-config.ts';
import { createRunSaver, type RunSaver, skipEarlierAttempts } from './run-saver.ts';
import { decideStart, type RunStart, startFresh } from './run-start.ts';
import { interruptsByTask, type Settlement, sendSettlement } from './settlement.ts';
import { callbacksOf } from './tracing.ts';

export interface RunOptions {
  connection: HostConnection;
  use: number;
  request: ExecutionRequest;
  hasCheckpoints: boolean;
  graph: LoadedGraph;
  limits: { creditBytes: number; bufferBytes: number; eventBytes: number };
  /** The URL of the deployment for clients, null when it has none. */
  publicUrl: string | null;
  /** Called with what the graph's own code has thrown, before the run is settled. */
  onThrown(error: unknown): void;
}

export class GraphRun {
  readonly #options: RunOptions;
  readonly #eventBuffer: EventBuffer;
  readonly #renderer: EventRenderer;
  /** Undefined unless the run emits events of the event protocol; then the renderer emits none. */
  readonly #protocol: ProtocolEvents | undefined;
  readonly #checkpoints: RemoteCheckpoints | undefined;
  /** Undefined unless somebody wants the spans of the run. */
  readonly #spans: SpanRecorder | undefined;
  readonly #usage: RunUsage;
  readonly #abort = new AbortController();
  readonly #control: { requestDrain(reason?: string): void } | undefined;
  #isDraining = false;
  /** The graph of the run and its config, once it is executed. */
  #executed: { graph: CompiledGraph; config: GraphConfig } | undefined;
  /** The error that ends the run although its graph could go on. */
  #failure: Error | undefined;

  constructor(options: RunOptions) {
    const { connection, use, request, graph, limits } = options;
    this.#options = options;
    this.#eventBuffer = new EventBuffer({
      connection,
      use,
      ...limits,
      onOverflow: (error) => this.fail(error),
    });
    const emit = (event: RenderedEvent) => this.#eventBuffer.push(event);
    this.#renderer = new EventRenderer(request.emitsProtocolEvents ? [] : request.streamModes, emit);
    this.#protocol = request.emitsProtocolEvents ? new ProtocolEvents(emit) : undefined;
    this.#usage = new RunUsage(connection, use);
    this.#checkpoints = options.hasCheckpoints
      ? new RemoteCheckpoints(connection, use, {
          ...(request.isThreadNew && { newThreadId: request.threadId }),
          beforePut: () => this.#usage.report(),
          streamPosition: () => streamPosition(request.attempt, this.#eventBuffer.emitted),
          ...(request.durability !== 'sync' && { onPutFailed: (error: Error) => this.fail(error) }),
        })
      : undefined;
    this.#spans = request.spans && new SpanRecorder({ connection, use, withContent: request.spans.withContent });
    const { RunControl } = graph.modules.langgraph;
    this.#control = RunControl && new RunControl();
  }

  get runId(): string {
    return this.#options.request.runId;
  }

  grant(bytes: number): void {
    this.#eventBuffer.grant(bytes);
  }

  abort(reason: string): void {
    const error = new Error(reason);
    error.name = 'AbortError';
    this.#abort.abort(error);
  }

  /**
   * Stops at the next step boundary. Where the project's LangGraph cannot do that, it stops at once: the last
   * checkpoint is enough to go on.
   */
  drain(): void {
    this.#isDraining = true;
    void this.#drain();
  }

  async #drain(): Promise<void> {
    const graph = this.#executed?.graph;
    // A graph inside would stop in front of its breakpoint, and pass it in the next attempt.
    const mayStop = this.#control && !(graph && (await hasBreakpointsInside(graph).catch(() => true)));
    if (mayStop) this.#control?.requestDrain('shutdown');
    else this.#abort.abort(new Error('shutdown'));
  }

  /** Ends the run with this error, whatever its graph returns. */
  fail(error: Error): void {
    this.#failure ??= error;
    this.#abort.abort(error);
  }

  /** Never rejects: every error becomes a settlement. */
  async execute(): Promise<void> {
    const settlement = await this.#usage.during(this.runId, () => this.#settlement());
    await this.#eventBuffer.waitUntilEmpty();
    this.#spans?.close();
    const { connection, use } = this.#options;
    sendSettlement(connection, use, settlement, this.#checkpoints?.lastRootCheckpointId);
  }

  async #settlement(): Promise<Settlement> {
    const { request, graph, connection, use } = this.#options;
    try {
      const graphUse = { accessContext: 'threads.create_run', executionRuntime: { context: request.context } } as const;
      const compiled = await graph.getGraph({ ...request.config, context: request.context }, graphUse);
      const handlers = [...(this.#protocol ?? this.#renderer).callbacks, ...this.#spanCallbacks()];
      const callbacks = await callbacksOf(request, graph.modules, handlers);
      const { input, isResuming, readNewest, saver } = await this.#start();
      const { langgraphVersion } = graph.modules;
      const config = toGraphConfig(
        request,
        { langgraphVersion, publicUrl: this.#options.publicUrl },
        {
          isResuming,
          checkpointer: saver,
          store: createStore(graph.modules.checkpoint, new RemoteStore(connection, use)),
          callbacks,
          control: this.#control,
          signal: this.#abort.signal,
        },
      );
      this.#executed = { graph: compiled, config };
      const stopped = readNewest && (await findBreakpoint({ graph: compiled, config, request }, readNewest));
      if (stopped) this.#renderer.stopAt(stopped.values);
      else await this.#stream(compiled, input, config);
      await this.#checkpoints?.waitForWrites();
      if (this.#failure) throw this.#failure;
      if (this.#abort.signal.aborted) return this.#isDraining ? { kind: 'drained' } : await this.#aborted();
      this.#renderer.end();
      return await this.#done(compiled, config);
    } catch (error) {
      return await this.#stopped(error);
    }
  }

  #spanCallbacks(): object[] {
    const { request } = this.#options;
    if (!this.#spans || !request.spans) return [];
    return [new RunSpans(request, request.spans.parentSpanId, this.#spans).handler];
  }

  async #start(): Promise<RunStart & { saver: RunSaver | undefined }> {
    const { request, graph } = this.#options;
    const { langgraph } = graph.modules;
    const checkpoints = this.#checkpoints;
    if (!checkpoints) return { ...startFresh(request, langgraph), saver: undefined };
    const saver = createRunSaver(checkpoints, { request, graph, eventBuffer: this.#eventBuffer });
    const load = ({ type, data }: SerializedValue) => saver.serde.loadsTyped(type, data);
    const start = await decideStart(request, { langgraph, checkpoints, load });
    if (!start.isResuming && request.durability === 'exit') skipEarlierAttempts(saver, request);
    if (start.answers) giveAnswers(saver, start.answers);
    return { ...start, saver };
  }

  async #stream(graph: CompiledGraph, input: unknown, config: GraphConfig): Promise<void> {
    const { request } = this.#options;
    if (this.#protocol) {
      await this.#streamProtocol(this.#protocol, graph, input, config);
      return;
    }
    const streamMode = requestedModes(this.#renderer.graphModes, this.#options.graph.modules.line);
    const options = { ...config, streamMode, subgraphs: request.streamSubgraphs };
    if (!request.streamModes.includes('events')) {
      for await (const chunk of await graph.stream(input, options)) this.#render(chunk as unknown[]);
      return;
    }
    for await (const event of graph.streamEvents(input, { ...options, version: 'v2' })) {
      if (event.tags?.includes('langsmith:hidden')) continue;
      const isChunk = event.event === 'on_chain_stream' && event.run_id === request.runId;
      if (isChunk) this.#render(event.data.chunk as unknown[]);
      else this.#renderer.renderStreamedEvent(event);
    }
  }

  async #streamProtocol(protocol: ProtocolEvents, graph: CompiledGraph, input: unknown, config: GraphConfig) {
    for await (const event of streamProtocol(graph, input, config, this.#options.graph.modules)) {
      const { namespace, data } = event.params;
      // Another worker goes on with what stops here.
      if (this.#isDraining && isFailedNamespace(event)) continue;
      // The run's result comes from the values.
      if (event.method === 'values') this.#renderer.render(namespace, 'values', data);
      protocol.add(event);
    }
  }

  #render(chunk: unknown[]): void {
    const { request, graph } = this.#options;
    const [namespace, mode, payload] = request.streamSubgraphs ? chunk : [[], ...chunk];
    const streamed: StreamChunk = [(namespace as string[] | null) ?? [], mode as string, payload];
    for (const later of laterChunks(streamed, graph.modules.line)) this.#renderer.render(...later);
  }

  async #done(graph: CompiledGraph, config: GraphConfig): Promise<Settlement> {
    const values = this.#renderer.rootValues;
    if (!this.#renderer.isInterrupted) {
      const final =
        values === undefined && this.#checkpoints ? (await graph.getState(newestStateConfig(config))).values : values;
      return { kind: 'done', values: final ?? {}, next: [] };
    }
    const interrupted = {
      ...(typeof values === 'object' ? values : {}),
      __interrupt__: this.#renderer.rootInterrupts,
    };
    const settlement = { kind: 'done', values: withInterruptSchema(interrupted) } as const;
    if (!this.#checkpoints) return { ...settlement, next: [] };
    const { next, tasks } = await graph.getState(newestStateConfig(config));
    return { ...settlement, next, interrupts: interruptsByTask(tasks) };
  }

  async #aborted(): Promise<Settlement> {
    return { kind: 'aborted', values: this.#renderer.rootValues, interrupts: await this.#openQuestions() };
  }

  async #failed(error: unknown): Promise<Settlement> {
    if (!(error instanceof BackendError)) this.#options.onThrown(error);
    const values = this.#renderer.rootValues;
    return { kind: 'failed', error: errorBody(error), values, interrupts: await this.#openQuestions() };
  }

  async #stopped(error: unknown): Promise<Settlement> {
    if (this.#failure) return this.#failed(this.#failure);
    if (error instanceof Error && error.name === 'GraphDrained') return { kind: 'drained' };
    if (this.#abort.signal.aborted) return this.#isDraining ? { kind: 'drained' } : this.#aborted();
    return this.#failed(error);
  }

  /**
   * Returns what the newest checkpoint asks: a node that ran beside the one that failed may have asked. What fails here
   * is the storage, and says nothing about the run.
   */
  async #openQuestions(): Promise<Settlement['interrupts']> {
    if (!this.#executed || !this.#checkpoints?.mayAsk) return undefined;
    const { graph, config } = this.#executed;
    try {
      await this.#checkpoints.waitForWrites();
      return interruptsByTask((await graph.getState(newestStateConfig(config))).tasks);
    } catch {
      return undefined;
    }
  }
}

function isFailedNamespace({ method, params }: GraphEvent): boolean {
  return method === 'lifecycle' && (params.data as { event?: unknown }).event === 'failed';
}
