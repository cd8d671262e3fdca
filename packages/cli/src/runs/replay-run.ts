import { isUuid } from '@runyard/contracts';
import type { AgentServer } from '../agent-server/agent-server.ts';
import { type InspectionFlags, withInspectedServer } from '../agent-server/inspect.ts';
import { isObject, type Json } from '../agent-server/json.ts';
import { findCheckpoint } from '../checkpoints/checkpoints.ts';
import { CliError, ExitCode } from '../cli-error.ts';
import type { CommandContext } from '../command-context.ts';
import { toJsonLine } from '../output/json-line.ts';
import { replayRequest } from './replay-request.ts';
import type { RunName } from './run.ts';
import { findStartingPoint, type StartingPoint } from './starting-point.ts';
import { tail } from './tail-run.ts';

export interface ReplayFlags extends InspectionFlags {
  /** True to leave the thread alone, and replay on a copy of it. */
  copy: boolean;
  /** False with `--no-wait`. */
  wait: boolean;
}

/**
 * Runs again what a run did: from the state that it began with, with its arguments, on the code that is deployed now.
 * With a checkpoint, what followed that runs again.
 *
 * @returns the exit code, which says how the new run ended
 */
export async function replayRun(
  { threadId, id }: { threadId: string; id: string },
  flags: ReplayFlags,
  context: CommandContext,
): Promise<number> {
  return withInspectedServer(flags, context, async (server) => {
    const start = await findStartingPoint(server, threadId, id);
    if (start.checkpointId === undefined && !flags.copy) {
      throw new CliError(
        'Nothing is before this run, and it has left no checkpoint of its input: --copy replays it on a new thread.',
      );
    }
    const request = replayRequest(start);
    const target = flags.copy ? await makeThread(server, threadId, start) : threadId;
    const name = { threadId: target, runId: await startRun(server, target, request) };
    announce(name, flags, context);
    return flags.wait ? tail(server, name, flags, context) : ExitCode.done;
  });
}

/** Copies the thread with its checkpoints, or makes an empty one where the run had nothing before it. */
async function makeThread(server: AgentServer, threadId: string, { checkpointId }: StartingPoint): Promise<string> {
  if (checkpointId === undefined) return idOf(await server.call('POST', '/threads', {}, ONCE), 'thread_id');
  const copy = idOf(await server.call('POST', `/threads/${threadId}/copy`, undefined, ONCE), 'thread_id');
  // A run from a checkpoint that is not there would begin anew.
  if (await findCheckpoint(server, copy, checkpointId)) return copy;
  throw new CliError(
    `The copy ${copy} of the thread has not the checkpoint ${checkpointId}: this server gives it another id.`,
  );
}

/** Each request makes another one. */
const ONCE = { isRepeatable: false };

async function startRun(server: AgentServer, threadId: string, request: Json): Promise<string> {
  return idOf(await server.call('POST', `/threads/${threadId}/runs`, request, ONCE), 'run_id');
}

function idOf(made: unknown, key: 'thread_id' | 'run_id'): string {
  const id = isObject(made) ? made[key] : undefined;
  if (isUuid(id)) return id;
  throw new CliError(`The server answered without the ${key} of what it made.`);
}

function announce({ threadId, runId }: RunName, { json }: ReplayFlags, { stdout }: CommandContext): void {
  const event = { event: 'run', thread_id: threadId, run_id: runId };
  stdout.write(json ? `${toJsonLine(event)}\n` : `Run ${runId} of the thread ${threadId}\n`);
}
