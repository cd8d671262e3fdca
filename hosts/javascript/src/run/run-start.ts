/** Decides how an attempt begins: with the run's request, or where an earlier attempt stopped. */
import type { StoredCheckpoint } from '@runyard/checkpointer/graph-process';
import type { ExecutionRequest } from '@runyard/host-protocol/graph-process';
import type { LangGraphModule } from '../langgraph/graph-types.ts';
import type { RemoteCheckpoints } from '../storage/backends.ts';
import {
  answersByTask,
  type Deserialize,
  findUntakenAnswers,
  keyAnswerByInterrupt,
  type TaskAnswer,
} from '../storage/interrupt-answers.ts';
import { toCommand } from './run-command.ts';

export interface RunStart {
  /** The input for LangGraph: the run's input, a command, or null to go on. */
  input: unknown;
  /**
   * True when the thread's newest checkpoint is one of this run: the attempt goes on from it, wherever the run began.
   */
  isResuming: boolean;
  /** Reads the checkpoint that it goes on from. */
  readNewest?: () => Promise<unknown>;
  /** Answers that the saver gives to the tasks that wait for them, instead of the input. */
  answers?: TaskAnswer[];
}

export interface RunStartDependencies {
  langgraph: LangGraphModule;
  checkpoints: RemoteCheckpoints;
  load: Deserialize;
}

/** Begins a run without checkpoints, where each attempt starts over. */
export function startFresh(
  { command, input = null }: Pick<ExecutionRequest, 'command' | 'input'>,
  langgraph: LangGraphModule,
): RunStart {
  return { input: command ? toCommand(langgraph, command) : input, isResuming: false };
}

/**
 * Decides how the attempt begins, by the thread's newest checkpoint. Nobody else writes the thread between the attempts
 * of a run. Either this run made the checkpoint, and input and command have been applied; or none of the run's steps is
 * stored, and the attempt begins like the first one.
 */
export async function decideStart(request: ExecutionRequest, options: RunStartDependencies): Promise<RunStart> {
  const { command, input = null, attempt } = request;
  const { langgraph, checkpoints, load } = options;
  if (attempt > 1) {
    const newest = await checkpoints.readAhead(request.threadId);
    if (newest && (await isCheckpointOfRun(request, newest, load))) {
      return { input: null, isResuming: true, readNewest: async () => load(newest.checkpoint) };
    }
  }
  const answers = await findAnswersByTask(request, checkpoints, load);
  if (answers !== undefined) return { ...startFresh(withoutResume(request), langgraph), answers };
  const resume = command || input === null ? await findResume(request, checkpoints, load) : undefined;
  return startFresh(resume === undefined ? request : { ...request, command: { ...command, resume } }, langgraph);
}

async function isCheckpointOfRun(
  request: ExecutionRequest,
  newest: StoredCheckpoint,
  load: Deserialize,
): Promise<boolean> {
  const metadata = (await load(newest.metadata)) as { run_id?: string } | null;
  return metadata?.run_id === request.runId;
}

async function findAnswersByTask(
  { command, threadId, config }: ExecutionRequest,
  checkpoints: RemoteCheckpoints,
  load: Deserialize,
): Promise<TaskAnswer[] | undefined> {
  if (command?.resume === undefined || command.resume === null) return undefined;
  const stored = await checkpoints.readAhead(threadId, startingCheckpointId(config.configurable));
  return answersByTask(command.resume, stored, load);
}

/** Returns the rest of a command, or null to go on: LangGraph refuses a command with nothing in it. */
function withoutResume({ command }: ExecutionRequest): Pick<ExecutionRequest, 'command' | 'input'> {
  const { resume: _resume, ...rest } = command ?? {};
  const hasRest = Object.values(rest).some((part) => part !== undefined && part !== null);
  return hasRest ? { command: rest } : { input: null };
}

async function findResume(
  { command, threadId, config }: ExecutionRequest,
  checkpoints: RemoteCheckpoints,
  load: Deserialize,
): Promise<unknown> {
  const checkpointId = startingCheckpointId(config.configurable);
  if (command?.resume !== undefined) {
    return keyAnswerByInterrupt(command.resume, await checkpoints.readAhead(threadId, checkpointId), load);
  }
  // A run from an earlier checkpoint is asked again what was asked there.
  if (command || checkpointId !== undefined) return undefined;
  return findUntakenAnswers(await checkpoints.readAhead(threadId), load);
}

/** Reads the id from the configuration as LangGraph does; undefined for the newest. */
function startingCheckpointId(configurable: Record<string, unknown>): string | undefined {
  const { checkpoint_id, checkpoint_ns = '', checkpoint_map } = configurable;
  if (checkpoint_ns !== '') return undefined;
  return (checkpoint_id ?? (checkpoint_map as Record<string, unknown> | undefined)?.['']) as string | undefined;
}
