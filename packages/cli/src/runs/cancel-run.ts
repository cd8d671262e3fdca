import { setTimeout as pause } from 'node:timers/promises';
import { type AgentServer, ServerRefusedError } from '../agent-server/agent-server.ts';
import { type InspectionFlags, withInspectedServer } from '../agent-server/inspect.ts';
import { CliError, ExitCode } from '../cli-error.ts';
import type { CommandContext } from '../command-context.ts';
import { toJsonLine } from '../output/json-line.ts';
import { toPlainLine } from '../output/plain-text.ts';
import { findRun, getRun, hasEnded, type Run, type RunName, runPath } from './run.ts';

export interface CancelFlags extends InspectionFlags {
  action: 'interrupt' | 'rollback';
  wait: boolean;
  /** Seconds to wait. */
  timeout: number;
}

/** Cancels a run, and with `wait` waits until it has ended. @returns the exit code */
export async function cancelRun(name: RunName, flags: CancelFlags, context: CommandContext): Promise<number> {
  return withInspectedServer(flags, context, async (server) => {
    requireInFlight(await getRun(server, name));
    await requestCancel(server, name, flags.action);
    if (!flags.wait) {
      report('requested', 'Its cancellation is under way.');
      return ExitCode.done;
    }
    const ended = await waitForEnd(server, name, flags, context);
    if (ended === undefined) report('rolled_back', 'The run is cancelled, and its checkpoints are deleted.');
    else if (ended.status === 'interrupted') report('interrupted', 'The run is cancelled.');
    else {
      report(ended.status, `The run ended before it was cancelled: ${toPlainLine(ended.status)}.`);
      return ExitCode.failed;
    }
    return ExitCode.done;
  });

  function report(status: string, sentence: string): void {
    const result = { event: 'result', status, thread_id: name.threadId, run_id: name.runId };
    context.stdout.write(`${flags.json ? toJsonLine(result) : sentence}\n`);
  }
}

/** @throws CliError when the run has ended meanwhile, or the server refuses */
async function requestCancel(server: AgentServer, name: RunName, action: string): Promise<void> {
  try {
    await server.call('POST', `${runPath(name)}/cancel?${new URLSearchParams({ action })}`);
  } catch (error) {
    if (!(error instanceof ServerRefusedError) || error.status !== 404) throw error;
    requireInFlight(await getRun(server, name));
    throw error;
  }
}

/** @throws CliError when there is nothing left to cancel */
function requireInFlight(run: Run): void {
  if (hasEnded(run)) throw new CliError(`The run has ended already: ${toPlainLine(run.status)}.`);
}

/** Returns the run as it ended; undefined when it was rolled back. @throws CliError when that takes too long */
async function waitForEnd(
  server: AgentServer,
  name: RunName,
  { timeout }: CancelFlags,
  { pollMs, interrupted }: CommandContext,
): Promise<Run | undefined> {
  const began = Date.now();
  for (;;) {
    const run = await findRun(server, name);
    if (run === undefined || hasEnded(run)) return run;
    if (Date.now() - began >= timeout * 1_000) {
      throw new CliError(`The run has not ended after ${timeout} s; its cancellation goes on.`, ExitCode.timedOut);
    }
    await pause(pollMs, undefined, { signal: interrupted }).catch(() => interrupted.throwIfAborted());
  }
}
