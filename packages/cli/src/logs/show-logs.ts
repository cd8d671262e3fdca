import { setTimeout as pause } from 'node:timers/promises';
import type { LogEntry, LogLevel, LogRequest } from '@runyard/contracts';
import { CliError, ExitCode } from '../cli-error.ts';
import type { CommandContext } from '../command-context.ts';
import { type ConnectionFlags, withControlPlane } from '../connection/connect.ts';
import type { ControlPlane, LogStream } from '../connection/control-plane.ts';
import { ownDeploymentName } from '../connection/own-deployment.ts';
import { isUnreachable } from '../connection/refusals.ts';
import { createPainter } from '../output/colours.ts';
import { colourOfLevel, formatLogEntry } from './log-entry.ts';
import { LogTail } from './log-tail.ts';

export interface LogFlags extends ConnectionFlags {
  name?: string;
  deploymentId?: string;
  type: 'deploy' | 'build';
  revisionId?: string;
  level?: LogLevel;
  limit: number;
  query?: string;
  startTime?: string;
  endTime?: string;
  follow: boolean;
  json: boolean;
}

/** Shows the newest entries, and with `follow` new ones until the command is interrupted. */
export async function showLogs(flags: LogFlags, context: CommandContext): Promise<void> {
  const { interrupted, pollMs } = context;
  await withControlPlane(flags, context, async ({ controlPlane, project }) => {
    const deploymentId = flags.deploymentId ?? (await findDeploymentId(flags, project, context, controlPlane));
    const tail = new LogTail(controlPlane, await chooseStream(flags, deploymentId, controlPlane), toFilter(flags));
    const show = createPrinter(flags, context);
    if (flags.follow) await tail.mark();
    const entries = await tail.last(flags.limit);
    show(entries);
    if (!flags.follow) {
      context.stderr.write(formatHint(flags, entries));
      return;
    }
    let isAway = false;
    while (!interrupted.aborted) {
      try {
        await pause(pollMs, undefined, { signal: interrupted });
        show(await tail.next());
        isAway = false;
      } catch (error) {
        if (interrupted.aborted) return;
        // A log is followed for hours, and a restart of the platform takes seconds.
        if (!isUnreachable(error)) throw error;
        if (!isAway) context.stderr.write('The platform is unavailable: waiting for it.\n');
        isAway = true;
      }
    }
  });
}

/** Returns the hint after the entries. Programs get only entries, and a range with an end has no further ones. */
function formatHint({ json, endTime }: LogFlags, entries: LogEntry[]): string {
  const nothing = entries.length === 0 ? ['There is nothing.'] : [];
  const further = json || endTime !== undefined ? [] : ['To go on with what comes, add --follow (-f).'];
  const sentences = [...nothing, ...further];
  return sentences.length === 0 ? '' : `${sentences.join(' ')}\n`;
}

async function findDeploymentId(
  flags: LogFlags,
  project: Record<string, string>,
  context: CommandContext,
  controlPlane: ControlPlane,
): Promise<string> {
  const { name } = ownDeploymentName(flags.name, project, context);
  const found = await controlPlane.findDeployment(name);
  if (found) return found.id;
  throw new CliError(`There is no deployment ${name}: name one with --name or --deployment-id.`, ExitCode.notFound);
}

async function chooseStream(flags: LogFlags, deploymentId: string, controlPlane: ControlPlane): Promise<LogStream> {
  const { revisionId } = flags;
  if (flags.type === 'deploy') return { type: 'deploy', deploymentId, revisionId };
  if (revisionId !== undefined) return { type: 'build', deploymentId, revisionId };
  const [latest] = await controlPlane.listRevisions(deploymentId, 1);
  if (!latest) throw new CliError('The deployment has no revisions, so there is no build.', ExitCode.notFound);
  return { type: 'build', deploymentId, revisionId: latest.id };
}

function toFilter({ level, query, startTime, endTime }: LogFlags): LogRequest {
  return {
    ...(level !== undefined && { level }),
    ...(query !== undefined && { query }),
    ...(startTime !== undefined && { start_time: startTime }),
    ...(endTime !== undefined && { end_time: endTime }),
  };
}

function createPrinter({ json }: LogFlags, { stdout }: CommandContext): (entries: LogEntry[]) => void {
  const paint = createPainter(stdout);
  const lineOf = (entry: LogEntry) => {
    const colour = colourOfLevel(entry.level);
    return colour ? paint(colour, formatLogEntry(entry)) : formatLogEntry(entry);
  };
  return (entries) => {
    for (const entry of entries) stdout.write(`${json ? JSON.stringify(entry) : lineOf(entry)}\n`);
  };
}
