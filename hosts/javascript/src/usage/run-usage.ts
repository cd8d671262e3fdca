/** Counts the models and tools that a run calls, from the callbacks of LangChain. */
import {
  type HostConnection,
  USAGE_NAME_MAX,
  USAGE_NAMES_MAX,
  type RunUsage as Usage,
} from '@runyard/host-protocol/graph-process';
import { isBubbleUp } from '../events/task-errors.ts';
import { printContext } from '../process/console.ts';
import { readModelAnswer, readModelCall } from '../spans/model-attributes.ts';

type Fields = Record<string, unknown>;
type ModelUsage = Usage['models'][number];
type ToolUsage = Usage['tools'][number];

/** Milliseconds between reports of a run that writes no checkpoint meanwhile. */
const REPORT_MS = 1_000;
const OTHER = 'other';
/** The key of what counts as `other`: no name is empty. */
const OTHERS = '';
const UNKNOWN = 'unknown';

/** The usage of runs that are executed, by their ids. */
const underWay = new Map<string, RunUsage>();

/** Returns the handler that counts for the run whose code calls this; undefined for code that belongs to no run. */
export function usageHandler(): RunUsage['handler'] | undefined {
  const context = printContext();
  return context && underWay.get(context.runId)?.handler;
}

export class RunUsage {
  readonly #connection: HostConnection;
  readonly #use: number;
  readonly #models = new Map<string, ModelUsage>();
  readonly #tools = new Map<string, ToolUsage>();
  /** The model of each call under way, by its callback run. */
  readonly #modelCalls = new Map<string, ModelUsage>();
  /** The name of the tool of each call under way. */
  readonly #toolCalls = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(connection: HostConnection, use: number) {
    this.#connection = connection;
    this.#use = use;
  }

  /** A LangChain callback handler of any line: it has a name, so that LangChain takes it as it is. */
  readonly handler = {
    name: 'runyard-usage',
    // Handlers that are not awaited go through a queue of LangChain's, which costs more than the counting.
    awaitHandlers: true,
    ignoreRetriever: true,
    handleChatModelStart: (_model: unknown, _messages: unknown, ...call: StartedCall): void => this.#startModel(call),
    handleLLMStart: (_model: unknown, _prompts: unknown, ...call: StartedCall): void => this.#startModel(call),
    handleLLMEnd: (output: unknown, runId: string): void => {
      const model = this.#endModel(runId);
      if (!model) return;
      const { attributes } = readModelAnswer(output);
      const tokens = (name: string) => countOf(attributes[`gen_ai.usage.${name}`]);
      model.inputTokens += tokens('input_tokens');
      model.outputTokens += tokens('output_tokens');
      model.cacheReadTokens += tokens('cache_read.input_tokens');
      model.cacheCreationTokens += tokens('cache_creation.input_tokens');
      model.reasoningTokens += tokens('reasoning.output_tokens');
    },
    handleLLMError: (error: unknown, runId: string): void => {
      const model = this.#endModel(runId);
      if (model) model.failed += failureOf(error);
    },
    handleToolStart: (
      tool: unknown,
      _input: string,
      runId: string,
      _parentRunId?: string,
      _tags?: string[],
      _metadata?: Fields,
      runName?: string,
    ): void => {
      this.#toolCalls.set(runId, nameOf(runName ?? (tool as { name?: string } | undefined)?.name ?? 'tool'));
    },
    handleToolEnd: (output: unknown, runId: string): void => {
      const { name, tool_call_id: callId } = (output ?? {}) as { name?: unknown; tool_call_id?: unknown };
      // A node that hands its config on gives its own name to the call; the answer to a model has that of the tool.
      this.#endTool(runId, typeof callId === 'string' && typeof name === 'string' ? nameOf(name) : undefined);
    },
    handleToolError: (error: unknown, runId: string): void => {
      const tool = this.#endTool(runId);
      if (tool) tool.failed += failureOf(error);
    },
  };

  /** Counts for a run while it is executed. @param runId of the run whose code executes `work` */
  async during<T>(runId: string, work: () => Promise<T>): Promise<T> {
    underWay.set(runId, this);
    try {
      return await work();
    } finally {
      this.report();
      if (underWay.get(runId) === this) underWay.delete(runId);
    }
  }

  /** Sends what has been used so far, if it has changed. */
  report(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const usage: Usage = { models: [...this.#models.values()], tools: [...this.#tools.values()] };
    this.#connection.send(this.#use, { t: 'run.usage', use: this.#use, usage });
  }

  #startModel([runId, , extraParams, , metadata]: StartedCall): void {
    const { model, attributes } = readModelCall('chat', extraParams, metadata);
    this.#modelCalls.set(runId, this.#modelNamed(nameOf(attributes['gen_ai.provider.name']), nameOf(model)));
  }

  /** Counts a call that has ended. Returns undefined for one whose start was not seen. */
  #endModel(runId: string): ModelUsage | undefined {
    const model = this.#modelCalls.get(runId);
    return model && this.#modelCalls.delete(runId) ? this.#count(model) : undefined;
  }

  /** @param name the one that its answer has; default: that of its start */
  #endTool(runId: string, name?: string): ToolUsage | undefined {
    const begun = this.#toolCalls.get(runId);
    if (begun === undefined) return undefined;
    this.#toolCalls.delete(runId);
    return this.#count(this.#toolNamed(name ?? begun));
  }

  #count<Counts extends { calls: number }>(counts: Counts): Counts {
    counts.calls += 1;
    this.#timer ??= setTimeout(() => this.report(), REPORT_MS).unref();
    return counts;
  }

  #modelNamed(provider: string, model: string): ModelUsage {
    const tokens = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheCreationTokens: 0, reasoningTokens: 0 };
    const make = (provider: string, model: string) => ({ provider, model, calls: 0, failed: 0, ...tokens });
    return find(
      this.#models,
      JSON.stringify([provider, model]),
      () => make(provider, model),
      () => make(OTHER, OTHER),
    );
  }

  #toolNamed(name: string): ToolUsage {
    const make = (name: string) => ({ name, calls: 0, failed: 0 });
    return find(
      this.#tools,
      name,
      () => make(name),
      () => make(OTHER),
    );
  }
}

/** Returns the counts of a name: those of all others together where too many have their own. */
function find<Counts>(known: Map<string, Counts>, key: string, make: () => Counts, makeOther: () => Counts): Counts {
  const isFull = known.size >= USAGE_NAMES_MAX && !known.has(key);
  const [place, makeCounts] = isFull ? [OTHERS, makeOther] : [key, make];
  const found = known.get(place) ?? makeCounts();
  known.set(place, found);
  return found;
}

/** Returns 1 for a call that has failed. Whoever asks a question has not. */
function failureOf(error: unknown): 0 | 1 {
  return isBubbleUp(error) ? 0 : 1;
}

/** The arguments of the start of a model's call, from the third one on. */
type StartedCall = [
  runId: string,
  parentRunId?: string,
  extraParams?: Fields,
  tags?: string[],
  metadata?: Fields,
  ...more: unknown[],
];

function nameOf(value: unknown): string {
  return typeof value === 'string' && value !== '' ? value.slice(0, USAGE_NAME_MAX) : UNKNOWN;
}

/** Models are code of projects, which may report anything. */
function countOf(value: unknown): number {
  return typeof value === 'number' && value > 0 ? Math.min(Math.round(value), 1_000_000_000) : 0;
}
