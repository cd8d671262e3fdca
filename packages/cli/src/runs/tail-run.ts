import { isUuid } from '@runyard/contracts';
import type { AgentServer } from '../agent-server/agent-server.ts';
import { type InspectionFlags, withInspectedServer } from '../agent-server/inspect.ts';
import { CliError, ExitCode } from '../cli-error.ts';
import type { CommandContext } from '../command-context.ts';
import { toPlainText } from '../output/plain-text.ts';
import { createEventPrinter } from './event-printer.ts';
import { followRun } from './follow-run.ts';
import { getRun, listRuns, type Run, type RunName } from './run.ts';
import { printResult } from './run-result.ts';

export interface TailFlags extends InspectionFlags {
  mode?: string;
}

/**
 * Shows the events of a run until it ends: without an id, of the one that runs, else of the newest.
 *
 * @returns the exit code, which says how the run ended
 */
export async function tailRun(
  { threadId, runId }: { threadId: string; runId: string | undefined },
  flags: TailFlags,
  context: CommandContext,
): Promise<number> {
  return withInspectedServer(flags, context, async (server) => {
    const name = { threadId, runId: runId ?? (await chooseRun(server, threadId)) };
    await getRun(server, name);
    return tail(server, name, flags, context);
  });
}

/** Shows the events of a run until it ends, and how it ended. @returns the exit code */
export async function tail(
  server: AgentServer,
  name: RunName,
  { mode, json }: Pick<TailFlags, 'mode' | 'json'>,
  context: CommandContext,
): Promise<number> {
  const { stdout, stderr, pollMs, interrupted } = context;
  const print = createEventPrinter(context, json);
  const warn = (sentence: string) => void stderr.write(`${toPlainText(sentence)}\n`);
  const events = followRun(server, { name, modes: mode, pollMs, interrupted, warn });
  try {
    let next = await events.next();
    while (!next.done) {
      await print(next.value);
      next = await events.next();
    }
    return await printResult(server, { name, run: next.value }, { out: stdout, isJson: json });
  } catch (error) {
    if (interrupted.aborted) {
      warn(`The run goes on without this command: runyard runs tail ${name.threadId} ${name.runId} follows it again.`);
    }
    throw error;
  }
}

/** The fields that say which run is meant: arguments may be large. */
const SELECT = ['run_id', 'status', 'created_at'];

async function chooseRun(server: AgentServer, threadId: string): Promise<string> {
  const runs = await listRuns(server, threadId, { limit: 100, select: SELECT });
  // Not every server lists the newest first.
  const newestFirst = runs.sort((one, other) => timeOf(other) - timeOf(one));
  const chosen = newestFirst.find(({ status }) => status === 'running') ?? newestFirst[0];
  if (chosen && !isUuid(chosen.run_id)) throw new CliError(`${server.url} answers runs whose ids are none.`);
  if (chosen) return chosen.run_id;
  throw new CliError(`The thread ${threadId} has no runs.`, ExitCode.notFound);
}

function timeOf({ created_at: created }: Run): number {
  return Date.parse(String(created)) || 0;
}
