/** One run in the child: from its request to its settlement. */
import { createSaver, createStore } from '@runyard/checkpointer/graph-process';
import type { Connection } from '../protocol/connection.ts';
import type { ErrorBody } from '../protocol/messages.ts';
import type { RunRequest } from '../types.ts';
import { RemoteCheckpoints, RemoteStore } from './backends.ts';
import { errorBody } from './error-body.ts';
import { EventRenderer, withInterruptSchema } from './event-renderer.ts';
import type { CompiledGraph, GraphConfig, StateSnapshot } from './graph-types.ts';
import type { LoadedGraph } from './load-graphs.ts';
import { Outbox } from './outbox.ts';
import { namedAnswer, remainingResume } from './resume-marker.ts';
import { toCommand } from './run-command.ts';
import { checkpointMetadata, runMetadata } from './run-metadata.ts';
import { tracersOf } from './tracing.ts';
import { toWireJson } from './wire-json.ts';

/** LangGraph takes the checkpointer of one invocation from here; the shared graph object stays as it is. */
export const CHECKPOINTER_KEY = '__pregel_checkpointer';

export interface RunOptions {
  connection: Connection;
  use: number;
  request: RunRequest;
  hasCheckpoints: boolean;
  graph: LoadedGraph;
  limits: { creditBytes: number; bufferBytes: number; eventBytes: number };
}

type RunCommand = NonNullable<RunRequest['command']>;

interface Settlement {
  kind: 'done' | 'failed' | 'aborted' | 'drained';
  values?: unknown;
  next?: string[];
  interrupts?: Record<string, unknown[]>;
  error?: ErrorBody;
}

export class Run {
  readonly #options: RunOptions;
  readonly #outbox: Outbox;
  readonly #renderer: EventRenderer;
  readonly #checkpoints: RemoteCheckpoints | undefined;
  readonly #abort = new AbortController();
  readonly #control: { requestDrain(reason?: string): void } | undefined;
  #isDraining = false;
  /** Why the run ends although its graph would go on. */
  #failure: Error | undefined;

  constructor(options: RunOptions) {
    const { connection, use, request, graph, limits } = options;
    this.#options = options;
    this.#outbox = new Outbox({
      connection,
      use,
      ...limits,
      onOverflow: (error) => this.fail(error),
    });
    this.#renderer = new EventRenderer(request.streamModes, (event) => this.#outbox.push(event));
    this.#checkpoints = options.hasCheckpoints
      ? new RemoteCheckpoints(connection, use, {
          ...(request.durability !== 'sync' && { onPutFailed: (error: Error) => this.fail(error) }),
          ...(request.command?.resume !== undefined && { resumingRunId: request.runId }),
        })
      : undefined;
    const { RunControl } = graph.modules.langgraph;
    this.#control = RunControl && new RunControl();
  }

  get runId(): string {
    return this.#options.request.runId;
  }

  grant(bytes: number): void {
    this.#outbox.grant(bytes);
  }

  abort(reason: string): void {
    const error = new Error(reason);
    error.name = 'AbortError';
    this.#abort.abort(error);
  }

  /** Stops at the next step boundary; where the project's LangGraph cannot, at once: its last checkpoint is enough to go on. */
  drain(): void {
    this.#isDraining = true;
    if (this.#control) this.#control.requestDrain('shutdown');
    else this.#abort.abort(new Error('shutdown'));
  }

  /** Ends the run with this error, whatever its graph says. */
  fail(error: Error): void {
    this.#failure ??= error;
    this.#abort.abort(error);
  }

  /** Never rejects: whatever happens becomes the settlement. */
  async execute(): Promise<void> {
    const settlement = await this.#settlement();
    await this.#outbox.drained();
    this.#send(settlement);
  }

  async #settlement(): Promise<Settlement> {
    const { request, graph } = this.#options;
    try {
      const use = { accessContext: 'threads.create_run', executionRuntime: { context: request.context } } as const;
      const compiled = await graph.take({ ...request.config, context: request.context }, use);
      const tracers = (await tracersOf(request, graph.modules)) ?? [];
      const config = this.#config([...tracers, ...this.#renderer.callbacks]);
      await this.#stream(compiled, await this.#input(), config);
      await this.#checkpoints?.settled();
      if (this.#failure) throw this.#failure;
      if (this.#abort.signal.aborted) return this.#isDraining ? { kind: 'drained' } : this.#aborted();
      return await this.#done(compiled, config);
    } catch (error) {
      return this.#stopped(error);
    }
  }

  async #input(): Promise<unknown> {
    const { request, graph } = this.#options;
    if (request.continuesAttempt) return null;
    if (!request.command) return request.input ?? null;
    const command = request.attempt > 1 ? await this.#remainingCommand(request.command) : request.command;
    return command === null ? null : toCommand(graph.modules.langgraph, await this.#withNamedAnswer(command));
  }

  async #withNamedAnswer(command: RunCommand): Promise<RunCommand> {
    // Anything else is taken as it is, and costs no reading.
    if (command.resume === undefined || command.resume || !this.#checkpoints) return command;
    return { ...command, resume: namedAnswer(command.resume, await this.#startingCheckpoint(this.#checkpoints)) };
  }

  #startingCheckpoint(checkpoints: RemoteCheckpoints) {
    const { threadId, config } = this.#options.request;
    return checkpoints.getWithMarkers(threadId, '', config.configurable.checkpoint_id as string | undefined);
  }

  /** What an earlier attempt, which came to no checkpoint, has left of the command. */
  async #remainingCommand(command: RunCommand): Promise<RunCommand | null> {
    if (command.resume === undefined || !this.#checkpoints) return command;
    const { request } = this.#options;
    const stored = await this.#startingCheckpoint(this.#checkpoints);
    const { resume: _stored, ...rest } = command;
    const resume = remainingResume(command.resume, request.runId, stored);
    if (resume !== undefined) return { ...rest, resume };
    return Object.keys(rest).length > 0 ? rest : null;
  }

  #config(callbacks: object[]): GraphConfig {
    const { request, graph, connection, use } = this.#options;
    const { checkpoint_id, ...configurable } = request.config.configurable;
    // A fork point is where the run began; another attempt goes on from the checkpoints made since.
    const isFork = checkpoint_id !== undefined && !request.continuesAttempt;
    return {
      configurable: {
        ...configurable,
        ...(isFork && { checkpoint_id }),
        ...(this.#checkpoints && { [CHECKPOINTER_KEY]: this.#saver(this.#checkpoints) }),
      },
      store: createStore(graph.modules.checkpoint, new RemoteStore(connection, use)),
      metadata: runMetadata(request, graph.modules.langgraphVersion),
      runId: request.runId,
      signal: this.#abort.signal,
      durability: request.durability,
      ...(callbacks.length > 0 && { callbacks }),
      ...(this.#control && { control: this.#control }),
      ...(request.config.tags && { tags: request.config.tags }),
      ...(request.config.recursion_limit !== undefined && { recursionLimit: request.config.recursion_limit }),
      ...(request.config.max_concurrency !== undefined && { maxConcurrency: request.config.max_concurrency }),
      ...(request.config.run_name !== undefined && { runName: request.config.run_name }),
      ...(request.context !== undefined && { context: request.context }),
      ...(request.interruptBefore !== undefined && { interruptBefore: request.interruptBefore }),
      ...(request.interruptAfter !== undefined && { interruptAfter: request.interruptAfter }),
    };
  }

  /** Events wait while a checkpoint is being serialized: its put has to be on the wire before them. */
  #saver(checkpoints: RemoteCheckpoints): object {
    const { modules, saverOptions } = this.#options.graph;
    const saver = createSaver(modules.checkpoint, checkpoints, saverOptions);
    const put = saver.put.bind(saver);
    const ofRun = checkpointMetadata(this.#options.request);
    saver.put = async (config, checkpoint, metadata, versions) => {
      this.#outbox.hold();
      try {
        return await put(config, checkpoint, { ...ofRun, ...metadata }, versions);
      } finally {
        this.#outbox.release();
      }
    };
    return saver;
  }

  async #stream(graph: CompiledGraph, input: unknown, config: GraphConfig): Promise<void> {
    const { request } = this.#options;
    const options = { ...config, streamMode: this.#renderer.graphModes, subgraphs: request.streamSubgraphs };
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

  #render(chunk: unknown[]): void {
    const [namespace, mode, payload] = this.#options.request.streamSubgraphs ? chunk : [[], ...chunk];
    this.#renderer.render((namespace as string[] | null) ?? [], mode as string, payload);
  }

  async #done(graph: CompiledGraph, config: GraphConfig): Promise<Settlement> {
    const values = this.#renderer.rootValues;
    if (!this.#renderer.isInterrupted) {
      const final =
        values === undefined && this.#checkpoints ? (await graph.getState(newestState(config))).values : values;
      return { kind: 'done', values: final ?? {}, next: [] };
    }
    const interrupted = {
      ...(typeof values === 'object' ? values : {}),
      __interrupt__: this.#renderer.rootInterrupts,
    };
    const settlement = { kind: 'done', values: withInterruptSchema(interrupted) } as const;
    if (!this.#checkpoints) return { ...settlement, next: [] };
    const { next, tasks } = await graph.getState(newestState(config));
    return { ...settlement, next, interrupts: interruptsByTask(tasks) };
  }

  #aborted(): Settlement {
    return { kind: 'aborted', values: this.#renderer.rootValues };
  }

  #stopped(error: unknown): Settlement {
    if (this.#failure) return { kind: 'failed', error: errorBody(this.#failure), values: this.#renderer.rootValues };
    if (error instanceof Error && error.name === 'GraphDrained') return { kind: 'drained' };
    if (this.#abort.signal.aborted) return this.#isDraining ? { kind: 'drained' } : this.#aborted();
    return { kind: 'failed', error: errorBody(error), values: this.#renderer.rootValues };
  }

  #send(settlement: Settlement): void {
    const { connection, use } = this.#options;
    let values: Buffer | null = null;
    let { kind, error } = settlement;
    try {
      values = settlement.values === undefined ? null : Buffer.from(toWireJson(settlement.values, 'state'));
    } catch (unserializable) {
      kind = 'failed';
      error = errorBody(unserializable);
    }
    const interrupts = settlement.interrupts ? Buffer.from(toWireJson(settlement.interrupts, 'state')) : null;
    const header = {
      t: 'run.settled',
      use,
      kind,
      error,
      valuesBytes: values?.byteLength ?? null,
      interruptsBytes: interrupts?.byteLength ?? null,
      next: settlement.next,
      checkpointId: this.#checkpoints?.lastRootCheckpointId ?? null,
    };
    connection.send(use, header, [...(values ? [values] : []), ...(interrupts ? [interrupts] : [])]);
  }
}

/** The thread's state as it is now, wherever the run began. */
function newestState({ configurable }: GraphConfig): GraphConfig {
  const { thread_id, [CHECKPOINTER_KEY]: checkpointer } = configurable ?? {};
  return { configurable: { thread_id, checkpoint_ns: '', [CHECKPOINTER_KEY]: checkpointer } };
}

/** `{task id: [{id, value}]}` of the tasks that wait for an answer; undefined when none does. */
export function interruptsByTask(tasks: StateSnapshot['tasks']): Record<string, unknown[]> | undefined {
  const waiting = tasks.filter((task) => (task.interrupts?.length ?? 0) > 0);
  if (waiting.length === 0) return undefined;
  return Object.fromEntries(waiting.map((task) => [task.id, task.interrupts as unknown[]]));
}
