import { type Command, Option } from 'commander';
import type { CommandContext } from '../command-context.ts';
import { listThreads } from '../threads/list-threads.ts';
import { showThread } from '../threads/show-thread.ts';
import { addInspectionOptions } from './inspection-options.ts';
import { collectMetadata, parseUuid, parseWholeNumber } from './options.ts';

/** Adds `threads list` and `threads show`. */
export function addThreadCommands(program: Command, context: CommandContext): void {
  const threads = program.command('threads').summary('list and show threads').description('Looks at threads.');
  addInspectionOptions(
    threads
      .command('list')
      .description('Lists threads, the one that changed last first.')
      .addOption(new Option('--status <status>', 'only those of it').choices(['idle', 'busy', 'interrupted', 'error']))
      .option('--metadata <key=value>', 'only those that have it; may be repeated', collectMetadata)
      .addOption(new Option('--limit <count>', 'so many').argParser(parseWholeNumber(1, 10_000)).default(20)),
    'threads',
  ).action((flags) => listThreads(flags, context));
  addInspectionOptions(
    threads
      .command('show')
      .description('Shows a thread: its values, what it waits for, its last runs.')
      .argument('<thread>', 'its id', parseUuid)
      .addOption(
        new Option('--checkpoints <count>', 'so many of its newest checkpoints, too')
          .argParser(parseWholeNumber(0, 1_000))
          .default(0),
      ),
    'the thread',
  ).action((id, flags) => showThread(id, flags, context));
}
