import { CliError, ExitCode } from '../cli-error.ts';
import type { CommandContext } from '../command-context.ts';
import { copy } from './copy.ts';
import { CopyReporter } from './copy-reporter.ts';
import { type DeploymentFlags, type OtherServer, withServers } from './servers.ts';
import type { Kind, Tally } from './tally.ts';

export interface MoveFlags extends DeploymentFlags {
  only: readonly Kind[];
  metadata: Record<string, unknown>;
  /** False with `--no-history`. */
  history: boolean;
  concurrency: number;
  dryRun: boolean;
  switchCrons: boolean;
  json: boolean;
}

/** Copies from the other server into the deployment. @returns the exit code */
export function importInto(flags: MoveFlags, from: OtherServer, context: CommandContext): Promise<number> {
  return withServers(flags, from, context, ({ deployment, other }) => move(flags, other, deployment, context));
}

/** Copies from the deployment to the other server. @returns the exit code */
export function exportTo(flags: MoveFlags, to: OtherServer, context: CommandContext): Promise<number> {
  return withServers(flags, to, context, ({ deployment, other }) => move(flags, deployment, other, context));
}

type Ends = Parameters<typeof copy>[0];

async function move(flags: MoveFlags, source: Ends, target: Ends, context: CommandContext): Promise<number> {
  if (source.url === target.url) throw new CliError('Source and target are the same server.', ExitCode.usage);
  const { only, metadata, history, concurrency, dryRun, switchCrons } = flags;
  const reporter = new CopyReporter(context, flags);
  const options = { kinds: only, metadata, withoutHistory: !history, concurrency, isDryRun: dryRun, switchCrons };
  const tallies = await copy(source, target, options, reporter);
  const isComplete = [...tallies.values()].every(isWhole);
  reporter.end(tallies, { isDryRun: dryRun, isComplete });
  return isComplete ? ExitCode.done : ExitCode.failed;
}

/** Returns whether everything is at the target, but for what was left out on purpose. */
function isWhole({ counts }: Tally): boolean {
  return counts.failed === 0 && counts.different === 0;
}
