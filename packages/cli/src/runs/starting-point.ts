import type { AgentServer } from '../agent-server/agent-server.ts';
import { type Checkpoint, findCheckpoint, listCheckpoints, readCheckpoints } from '../checkpoints/checkpoints.ts';
import { CliError, ExitCode } from '../cli-error.ts';
import { findRun, type Run } from './run.ts';

/**
 * Says what a replay begins with: `run` gives the arguments. With `takesInput` it gets the run's input or command again,
 * else it goes on with what the checkpoint has. Without a checkpoint, it begins on an empty thread.
 */
export interface StartingPoint {
  run: Run;
  checkpointId: string | undefined;
  takesInput: boolean;
}

/**
 * Finds what a replay begins with.
 *
 * @param id of a run of the thread, or of a checkpoint
 * @throws CliError when there is no such thing, or when nothing says what the run began with
 */
export async function findStartingPoint(server: AgentServer, threadId: string, id: string): Promise<StartingPoint> {
  const run = await findRun(server, { threadId, runId: id });
  return run ? startOfRun(server, run, threadId) : startAtCheckpoint(server, threadId, id);
}

async function startOfRun(server: AgentServer, run: Run, threadId: string): Promise<StartingPoint> {
  let first: Checkpoint | undefined;
  for await (const checkpoint of readCheckpoints(server, threadId, run.run_id)) first = checkpoint;
  if (first?.parentId !== undefined) return { run, checkpointId: first.parentId, takesInput: true };
  // The first checkpoint of a thread has the input that the run began with, and nothing before it.
  if (first?.source === 'input') return { run, checkpointId: first.id, takesInput: false };
  if (first !== undefined || (await listCheckpoints(server, threadId, 1)).length === 0)
    return { run, checkpointId: undefined, takesInput: true };
  throw new CliError(
    `The run ${run.run_id} has left no checkpoint, so nothing says which state it began with. Name a checkpoint in its place: runyard threads show ${threadId} --checkpoints 20 lists them.`,
  );
}

async function startAtCheckpoint(server: AgentServer, threadId: string, id: string): Promise<StartingPoint> {
  const checkpoint = await findCheckpoint(server, threadId, id);
  if (!checkpoint) {
    const message = `The thread ${threadId} at ${server.url} has neither a run nor a checkpoint ${id}.`;
    throw new CliError(message, ExitCode.notFound);
  }
  const runId = checkpoint.runId;
  const run = runId === undefined ? undefined : await findRun(server, { threadId, runId });
  if (run) return { run, checkpointId: id, takesInput: false };
  throw new CliError(`The run that made the checkpoint ${id} is not there any more: nothing says what to run.`);
}
