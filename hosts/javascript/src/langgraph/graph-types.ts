/** The part of LangGraph's API that the host uses. The classes themselves come from the project at run time. */

export interface GraphConfig {
  configurable?: Record<string, unknown>;
  [key: string]: unknown;
}

export interface StateTask {
  id: string;
  name: string;
  path?: unknown;
  error?: unknown;
  interrupts?: unknown[];
  state?: unknown;
  result?: unknown;
}

export interface StateSnapshot {
  values: unknown;
  next: string[];
  tasks: StateTask[];
  metadata?: Record<string, unknown>;
  config: GraphConfig;
  createdAt?: string;
  parentConfig?: GraphConfig;
}

export interface CompiledGraph {
  checkpointer?: unknown;
  store?: unknown;
  nodes?: Record<string, { triggers?: string[]; tags?: string[] }>;
  /** Breakpoints that it was compiled with. */
  interruptBefore?: string[] | '*';
  interruptAfter?: string[] | '*';
  /** The channels that take the input: their names, or the one that takes all of it. */
  inputChannels?: string | string[];
  /** The graph of state that this one was compiled from; graphs of functions have none. */
  builder?: StateBuilder;
  /** The channels that are the state: their names, or the one channel that holds all of it. */
  streamChannelsAsIs?: string | string[];
  stream(input: unknown, options: GraphConfig): Promise<AsyncIterable<unknown>>;
  streamEvents(input: unknown, options: GraphConfig): AsyncIterable<StreamedEvent>;
  getState(config: GraphConfig, options?: { subgraphs?: boolean }): Promise<StateSnapshot>;
  getStateHistory(config: GraphConfig, options?: Record<string, unknown>): AsyncIterable<StateSnapshot>;
  getGraphAsync(config: GraphConfig): Promise<{ toJSON(): unknown }>;
  getSubgraphsAsync(namespace: string | undefined, recurse: boolean): AsyncIterable<[string, CompiledGraph]>;
  bulkUpdateState(config: GraphConfig, supersteps: unknown[]): Promise<GraphConfig>;
}

/** The part of a `StateGraph` by which its own input node decides which keys it writes, in all supported versions. */
interface StateBuilder {
  _inputDefinition?: unknown;
  /** Channels by name, of each definition of the graph. */
  _schemaDefinitions?: Map<unknown, Record<string, unknown>>;
}

/** One event of `streamEvents` version 2. */
export interface StreamedEvent {
  event: string;
  name: string;
  run_id: string;
  tags?: string[];
  metadata?: Record<string, unknown>;
  parent_ids?: string[];
  data: Record<string, unknown>;
}

/** One event of `streamEvents` version 3. */
export interface GraphEvent {
  /** The channel; `custom:<name>` for one that a transformer of the graph made. */
  method: string;
  params: GraphEventParams;
}

export interface GraphEventParams {
  namespace: string[];
  /** Milliseconds. */
  timestamp: number;
  node?: string | undefined;
  data: unknown;
}

interface RunControl {
  requestDrain(reason?: string): void;
}

/** The exports of the project's `@langchain/langgraph` that the host uses. */
export interface LangGraphModule {
  Command: new (fields: { resume?: unknown; update?: unknown; goto?: unknown }) => object;
  Send: new (node: string, args: unknown) => object;
  /** Missing in versions that cannot stop at a step boundary. */
  RunControl?: new () => RunControl;
  /** Missing in versions whose `streamEvents` has no version 3. */
  STREAM_EVENTS_V3_MODES?: readonly string[];
}
