import type { RunUsage as EventUsage } from '@runyard/contracts';
import type { RunUsage } from '@runyard/host-protocol';
import type { ClaimedRun, RunEngine } from '@runyard/run-engine';
import type { Logger } from '@runyard/service-kit';

/** Milliseconds between writes of an attempt that goes on. */
const WRITE_MS = 1_000;

export interface UsageWriterOptions {
  engine: Pick<RunEngine, 'recordUsage'>;
  run: ClaimedRun;
  logger: Logger;
}

/** Tells what one attempt uses: now and then while it goes on, and before its end. */
export class UsageWriter {
  readonly #options: UsageWriterOptions;
  /** The usage that is not written yet. */
  #newest: RunUsage | undefined;
  #writing: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: UsageWriterOptions) {
    this.#options = options;
  }

  /** Takes what the attempt has used so far. */
  receive(usage: RunUsage): void {
    this.#newest = usage;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      // The next write has it too.
      this.flush().catch((error: unknown) => this.#options.logger.debug('usage of a run not stored yet', { error }));
    }, WRITE_MS).unref();
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
    const { runId, threadId, assistantId, attempt } = this.#options.run;
    await this.#options.engine.recordUsage({ runId, threadId, assistantId, attempt, usage: toEventUsage(usage) });
    // More may have come meanwhile.
    if (this.#newest === usage) this.#newest = undefined;
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
