import { type Command, Option } from 'commander';
import type { CommandContext } from '../command-context.ts';
import { cancelRun } from '../runs/cancel-run.ts';
import { showRuns } from '../runs/list-runs.ts';
import { replayRun } from '../runs/replay-run.ts';
import { RUN_STATUSES } from '../runs/run.ts';
import { showRun } from '../runs/show-run.ts';
import { tailRun } from '../runs/tail-run.ts';
import { addInspectionOptions } from './inspection-options.ts';
import { parseNonEmptyText, parseUuid, parseWholeNumber } from './options.ts';

const TAIL_HELP = `
Without a run, that of the thread which runs is meant, else the newest. Events that were sent before are shown as far as
the server has kept them. Ctrl-C ends the command, and does nothing to the run.

Exit codes: 0 the run succeeded, or waits for an answer; 1 it failed, took too long or was cancelled; 2 wrong use,
3 not allowed, 4 no such run, 5 the server unreachable for two minutes, 130 interrupted.`;

const REPLAY_HELP = `
A run is replayed from the checkpoint before it, with its assistant, input, configuration and context, on the code that is
deployed now. From a checkpoint, what followed it runs again, with the configuration of the run that made it. Either way
the thread goes on from the new run, and its earlier checkpoints stay; --copy leaves it alone. No webhook is called.

Exit codes are those of \`runs tail\`.`;

/** Adds `runs list`, `runs show`, `runs tail`, `runs cancel` and `runs replay`. */
export function addRunCommands(program: Command, context: CommandContext, end: (exitCode: number) => void): void {
  const runs = program
    .command('runs')
    .summary('list, show, follow, cancel and replay runs')
    .description('Looks at runs, cancels and replays them.');
  addInspectionOptions(
    runs
      .command('list')
      .description('Lists the runs of a thread, newest first.')
      .argument('<thread>', 'its id', parseUuid)
      .addOption(new Option('--status <status>', 'only those of it').choices(RUN_STATUSES))
      .addOption(new Option('--limit <count>', 'so many').argParser(parseWholeNumber(1, 10_000)).default(20)),
    'runs',
  ).action((thread, flags) => showRuns(thread, flags, context));
  addInspectionOptions(
    addRunArguments(runs.command('show').description('Shows a run with its arguments.')),
    'the run',
  ).action((threadId, runId, flags) => showRun({ threadId, runId }, flags, context));
  addInspectionOptions(
    runs
      .command('tail')
      .description('Shows the events of a run as they come, until it ends.')
      .argument('<thread>', 'its thread', parseUuid)
      .argument('[run]', 'its id', parseUuid)
      .option('--mode <modes>', 'only events of these modes, such as `updates,custom`', parseNonEmptyText)
      .addHelpText('after', TAIL_HELP),
    'events',
  ).action(async (threadId, runId, flags) => end(await tailRun({ threadId, runId }, flags, context)));
  addInspectionOptions(
    addRunArguments(runs.command('cancel').description('Cancels a run.'))
      .addOption(
        new Option('--action <action>', 'interrupt keeps its checkpoints, rollback deletes it with them')
          .choices(['interrupt', 'rollback'])
          .default('interrupt'),
      )
      .option('--wait', 'until the run has ended', false)
      .addOption(
        new Option('--timeout <seconds>', 'how long to wait for that')
          .argParser(parseWholeNumber(1, 86_400))
          .default(300),
      ),
    'the result',
  ).action(async (threadId, runId, flags) => end(await cancelRun({ threadId, runId }, flags, context)));
  addInspectionOptions(
    runs
      .command('replay')
      .description('Runs again what a run did, or what followed a checkpoint.')
      .argument('<thread>', 'its thread', parseUuid)
      .argument('<run-or-checkpoint>', 'the id of a run of the thread, or of a checkpoint', parseUuid)
      .option('--copy', 'on a copy of the thread, which is left alone', false)
      .option('--no-wait', 'start it, and do not follow it')
      .addHelpText('after', REPLAY_HELP),
    'events',
  ).action(async (threadId, id, flags) => end(await replayRun({ threadId, id }, flags, context)));
}

function addRunArguments(command: Command): Command {
  return command.argument('<thread>', 'its thread', parseUuid).argument('<run>', 'its id', parseUuid);
}
