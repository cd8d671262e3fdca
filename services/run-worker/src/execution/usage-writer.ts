import type { RunUsage as EventUsage } from '@runyard/contracts';
import type { RunUsage } from '@runyard/host-protocol';
import type { ClaimedRun, ExhaustedBudget, RunEngine } from '@runyard/run-engine';
import type { Logger } from '@runyard/service-kit';

/** Milliseconds between writes of an attempt that goes on. */
const WRITE_MS = 1_000;

export interface UsageWriterOptions {
  engine: Pick<RunEngine, 'recordUsage'>;
  run: ClaimedRun;
  /** Is called when a budget is used up that the run has to stop for. */
  onExhausted(budget: ExhaustedBudget): void;
  logger: Logger;
}

/**
 * Tells what one attempt uses: now and then while it goes on, and before its end. Where a budget may stop the run it
 * tells at once.
 */
export class UsageWriter {
  readonly #options: UsageWriterOptions;
  /** The usage that is not written yet. */
  #newest: RunUsage | undefined;
  #writing: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  /** The tokens that budgets have counted. */
  #counted = 0;

  constructor(options: UsageWriterOptions) {
    this.#options = options;
  }

  /** Takes what the attempt has used so far. */
  receive(usage: RunUsage): void {
    this.#newest = usage;
    if (this.#options.run.budgets === 'enforced') void this.tryFlush();
    else this.#timer ??= setTimeout(() => void this.tryFlush(), WRITE_MS).unref();
  }

  /** Like `flush`. What cannot be written now is part of the next write. */
  tryFlush(): Promise<void> {
    return this.flush().catch((error: unknown) => {
      this.#options.logger.debug('usage of a run not stored yet', { error });
    });
  }

  /** Resolves when all that was received is durable. @throws the error of the database */
  flush(): Promise<void> {
    this.#writing = this.#writing.catch(() => {}).then(() => this.#write());
    return this.#writing;
  }

  async #write(): Promise<void> {
    const usage = this.#newest;
    if (!usage) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { engine, run, onExhausted } = this.#options;
    const { runId, threadId, assistantId, attempt } = run;
    const reported = usage.models.reduce((sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens, 0);
    // Code of the project can make its host report less than before: nothing is taken back.
    const tokens = Math.max(reported, this.#counted);
    const exhausted = await engine.recordUsage({
      ...{ runId, threadId, assistantId, attempt, usage: toEventUsage(usage) },
      ...(run.budgets && { tokens: tokens - this.#counted }),
    });
    this.#counted = tokens;
    // More may have come meanwhile.
    if (this.#newest === usage) this.#newest = undefined;
    if (exhausted) onExhausted(exhausted);
  }
}

function toEventUsage({ models, tools }: RunUsage): EventUsage {
  return {
    models: models.map(({ provider, model, calls, failed, ...tokens }) => ({
      provider,
      model,
      calls,
      failed,
      input_tokens: tokens.inputTokens,
      output_tokens: tokens.outputTokens,
      cache_read_tokens: tokens.cacheReadTokens,
      cache_creation_tokens: tokens.cacheCreationTokens,
      reasoning_tokens: tokens.reasoningTokens,
    })),
    tools,
  };
}
