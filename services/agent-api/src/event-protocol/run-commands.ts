import { isUuid, type RunCreateStateful } from '@runyard/contracts';
import type { RunEngine, RunRecord } from '@runyard/run-engine';
import { ConflictError, requirePermission } from '@runyard/service-kit';
import type { RunRequest } from '../runs/run-arguments.ts';
import type { RunService } from '../runs/run-service.ts';
import { requireStrategyPermission } from '../runs/strategy-permission.ts';
import { pendingInterrupts } from '../threads/pending-interrupts.ts';
import type { StateService } from '../threads/state-service.ts';
import type { StoredThread } from '../threads/stored-thread.ts';
import type { ThreadStore } from '../threads/thread-store.ts';
import type { CommandContext, CommandHandler, CommandResult } from './command-context.ts';
import {
  isStateless,
  MULTITASK_STRATEGIES,
  readInputRespond,
  readInputsRespond,
  readRunStart,
  readStateFork,
} from './command-params.ts';
import { CommandError } from './protocol-response.ts';

export interface RunCommandParts {
  runs: Pick<RunService, 'create'>;
  engine: Pick<RunEngine, 'listRuns'>;
  threads: Pick<ThreadStore, 'find'>;
  states: Pick<StateService, 'get'>;
}

/** A worker of a release before the event protocol emits these instead: most of them can be converted. */
export const STREAM_MODES: RunCreateStateful['stream_mode'] = ['values', 'updates', 'custom', 'tasks'];

/** Commands that start runs. All require the permission to create runs. */
export class RunCommands {
  readonly #parts: RunCommandParts;

  constructor(parts: RunCommandParts) {
    this.#parts = parts;
  }

  /**
   * Starts a run. On a thread that waits for answers the input is the answer, unless the run begins elsewhere. With
   * `on_completion: "delete"` the run is stateless: its thread has nothing before it, and is not kept.
   */
  readonly start: CommandHandler = async (context, params) => {
    const { multitaskStrategy, ...rest } = params;
    const strategy = MULTITASK_STRATEGIES.includes(multitaskStrategy as string) ? multitaskStrategy : undefined;
    const request = readRunStart({
      if_not_exists: 'create',
      ...rest,
      ...(strategy !== undefined && { multitask_strategy: strategy }),
    });
    if (isStateless(request)) return this.#create(context, request);
    const { input } = request;
    const isAnswer = input !== undefined && !beginsElsewhere(request) && (await this.#waitsForAnswer(context));
    if (!isAnswer) return this.#create(context, request);
    const { input: _input, ...others } = request;
    return this.#create(context, { ...others, command: { ...others.command, resume: input } });
  };

  /** Answers interrupts, all of them in one run. */
  readonly respond: CommandHandler = async (context, params) => {
    const { responses, update, goto, config, metadata } = readResponses(params);
    const thread = await this.#findThread(context);
    const pending = pendingInterrupts(thread);
    const unknown = responses.find(({ interrupt_id }) => !pending.has(interrupt_id));
    if (unknown) {
      throw new CommandError('no_such_interrupt', `The thread does not wait for an answer to ${unknown.interrupt_id}`);
    }
    const resume = Object.fromEntries(responses.map(({ interrupt_id, response = null }) => [interrupt_id, response]));
    const assistant_id = await this.#lastAssistant(context, thread);
    // When several clients answer at once, one gets the thread: the runs of the others would find no open question.
    const request = { assistant_id, command: { resume, update, goto }, config, metadata };
    return this.#create(context, { ...request, multitask_strategy: 'reject' }).catch(refuseLateAnswer);
  };

  /** Starts a run from an earlier checkpoint of the thread. */
  readonly fork: CommandHandler = async (context, params) => {
    const { checkpoint_id, input, config } = readStateFork(params);
    const thread = await this.#findThread(context);
    const assistant_id = await this.#lastAssistant(context, thread);
    const state = await this.#parts.states.get(context.scope, context.threadId, { checkpointId: checkpoint_id });
    if (state.created_at === null) {
      throw new CommandError('no_such_checkpoint', `The thread has no checkpoint ${checkpoint_id}`);
    }
    return this.#create(context, { assistant_id, input, config, checkpoint_id }, { thread_id: context.threadId });
  };

  /** @param about further fields of the result */
  async #create(
    { threadId, caller, origin, keyed }: CommandContext,
    request: RunRequest,
    about: CommandResult = {},
  ): Promise<CommandResult> {
    requirePermission(caller, 'runs:create');
    if (!isStateless(request)) requireStrategyPermission(caller, request);
    const resultOf = ({ runId }: Pick<RunRecord, 'runId'>) => ({ run_id: runId, ...about });
    const { record } = await this.#parts.runs.create(
      { ...origin, ...(isStateless(request) ? { statelessThreadId: threadId } : { threadId }), eventProtocol: 'v2' },
      {
        ...request,
        stream_mode: STREAM_MODES,
        stream_subgraphs: true,
        stream_resumable: true,
      },
      keyed && { request: keyed, answerOf: resultOf },
    );
    return resultOf(record);
  }

  async #waitsForAnswer({ scope, threadId }: CommandContext): Promise<boolean> {
    const thread = await this.#parts.threads.find(scope, threadId);
    return thread !== undefined && pendingInterrupts(thread).size > 0;
  }

  async #findThread({ scope, threadId }: CommandContext): Promise<StoredThread> {
    const thread = await this.#parts.threads.find(scope, threadId);
    if (!thread) throw new CommandError('no_such_run', 'The thread has no run');
    return thread;
  }

  /** Returns the assistant of the newest run; once that is deleted, the one that the thread was last run with. */
  async #lastAssistant({ threadId }: CommandContext, { metadata }: StoredThread): Promise<string> {
    const [newest] = await this.#parts.engine.listRuns({ threadId, limit: 1, offset: 0 });
    const assistantId = newest?.assistantId ?? metadata.assistant_id;
    if (!isUuid(assistantId)) throw new CommandError('no_such_run', 'The thread has no run');
    return assistantId;
  }
}

/** @throws CommandError when another run has the thread, as one with somebody else's answer; else what it was */
function refuseLateAnswer(error: unknown): never {
  if (!(error instanceof ConflictError) || error.code !== 'thread_busy') throw error;
  throw new CommandError('no_such_interrupt', 'The thread does not wait for an answer any more: a run is in flight');
}

/** Returns whether the run begins at a checkpoint that the client names: nothing is asked there yet. */
function beginsElsewhere({ config, checkpoint, checkpoint_id }: RunCreateStateful): boolean {
  const { checkpoint_id: configured } = config?.configurable ?? {};
  return Boolean(checkpoint_id || checkpoint?.checkpoint_id || configured);
}

function readResponses(params: Record<string, unknown>) {
  if (params.responses !== undefined) return readInputsRespond(params);
  const { interrupt_id, response, ...others } = readInputRespond(params);
  return { ...others, responses: [{ interrupt_id, response }] };
}
