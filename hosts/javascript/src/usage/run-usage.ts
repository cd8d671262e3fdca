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
  /** The counts that each call under way belongs to, by its callback run. */
  readonly #calls = new Map<string, ModelUsage | ToolUsage>();
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
      const model = this.#end(runId) as ModelUsage | undefined;
      if (!model) return;
      const { attributes } = readModelAnswer(output);
      const tokens = (name: string) => countOf(attributes[`gen_ai.usage.${name}`]);
      model.inputTokens += tokens('input_tokens');
      model.outputTokens += tokens('output_tokens');
      model.cacheReadTokens += tokens('cache_read.input_tokens');
      model.cacheCreationTokens += tokens('cache_creation.input_tokens');
      model.reasoningTokens += tokens('reasoning.output_tokens');
    },
    handleLLMError: (error: unknown, runId: string): void => this.#fail(runId, error),
    handleToolStart: (
      tool: unknown,
      _input: string,
      runId: string,
      _parentRunId?: string,
      _tags?: string[],
      _metadata?: Fields,
      runName?: string,
    ): void => {
      const name = runName ?? (tool as { name?: string } | undefined)?.name ?? 'tool';
      this.#calls.set(runId, this.#toolNamed(nameOf(name)));
    },
    handleToolEnd: (_output: unknown, runId: string): void => void this.#end(runId),
    handleToolError: (error: unknown, runId: string): void => this.#fail(runId, error),
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
    this.#calls.set(runId, this.#modelNamed(nameOf(attributes['gen_ai.provider.name']), nameOf(model)));
  }

  #modelNamed(provider: string, model: string): ModelUsage {
    const key = JSON.stringify([provider, model]);
    const known = this.#models.get(key);
    if (known) return known;
    if (this.#models.size >= USAGE_NAMES_MAX && model !== OTHER) return this.#modelNamed(OTHER, OTHER);
    const tokens = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheCreationTokens: 0, reasoningTokens: 0 };
    const usage = { provider, model, calls: 0, failed: 0, ...tokens };
    this.#models.set(key, usage);
    return usage;
  }

  #toolNamed(name: string): ToolUsage {
    const known = this.#tools.get(name);
    if (known) return known;
    if (this.#tools.size >= USAGE_NAMES_MAX && name !== OTHER) return this.#toolNamed(OTHER);
    const usage = { name, calls: 0, failed: 0 };
    this.#tools.set(name, usage);
    return usage;
  }

  /** Counts a call that has ended. Returns undefined for one whose start was not seen. */
  #end(runId: string): ModelUsage | ToolUsage | undefined {
    const usage = this.#calls.get(runId);
    if (!usage) return undefined;
    this.#calls.delete(runId);
    usage.calls += 1;
    this.#timer ??= setTimeout(() => this.report(), REPORT_MS).unref();
    return usage;
  }

  #fail(runId: string, error: unknown): void {
    const usage = this.#end(runId);
    // Whoever asks a question has not failed.
    if (usage && !isBubbleUp(error)) usage.failed += 1;
  }
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
