/** What a run is started with: its input, a command, or nothing because an earlier attempt already applied them. */
import type { RunRequest } from '../types.ts';
import type { RemoteCheckpoints } from './backends.ts';
import type { LangGraphModule } from './graph-types.ts';
import { namedAnswer, remainingResume } from './resume-marker.ts';
import { toCommand } from './run-command.ts';

type RunCommand = NonNullable<RunRequest['command']>;

export async function runInput(
  request: RunRequest,
  langgraph: LangGraphModule,
  checkpoints: RemoteCheckpoints | undefined,
): Promise<unknown> {
  if (request.continuesAttempt) return null;
  if (!request.command) return request.input ?? null;
  const command = request.attempt > 1 ? await remainingCommand(request, request.command, checkpoints) : request.command;
  return command === null ? null : toCommand(langgraph, await withNamedAnswer(request, command, checkpoints));
}

/** What an earlier attempt, which came to no checkpoint, has left of the command. */
async function remainingCommand(
  request: RunRequest,
  command: RunCommand,
  checkpoints: RemoteCheckpoints | undefined,
): Promise<RunCommand | null> {
  if (command.resume === undefined || !checkpoints) return command;
  const { resume: given, ...rest } = command;
  const resume = remainingResume(given, request.runId, await startingCheckpoint(request, checkpoints));
  if (resume !== undefined) return { ...rest, resume };
  return Object.keys(rest).length > 0 ? rest : null;
}

async function withNamedAnswer(
  request: RunRequest,
  command: RunCommand,
  checkpoints: RemoteCheckpoints | undefined,
): Promise<RunCommand> {
  // Anything else is taken as it is, and costs no reading.
  if (command.resume === undefined || command.resume || !checkpoints) return command;
  return { ...command, resume: namedAnswer(command.resume, await startingCheckpoint(request, checkpoints)) };
}

function startingCheckpoint({ threadId, config }: RunRequest, checkpoints: RemoteCheckpoints) {
  return checkpoints.getWithMarkers(threadId, '', config.configurable.checkpoint_id as string | undefined);
}
