import { type Command, Option } from 'commander';
import { listAssistants } from '../assistants/list-assistants.ts';
import { showAssistant } from '../assistants/show-assistant.ts';
import type { CommandContext } from '../command-context.ts';
import { addInspectionOptions } from './inspection-options.ts';
import { parseNonEmptyText, parseWholeNumber } from './options.ts';

/** Adds `assistants list` and `assistants show`. */
export function addAssistantCommands(program: Command, context: CommandContext): void {
  const assistants = program
    .command('assistants')
    .summary('list and show assistants')
    .description('Looks at assistants.');
  addInspectionOptions(
    assistants
      .command('list')
      .description('Lists assistants, newest first.')
      .option('--graph <name>', 'only those of this graph', parseNonEmptyText)
      .addOption(new Option('--limit <count>', 'so many').argParser(parseWholeNumber(1, 10_000)).default(20)),
    'assistants',
  ).action((flags) => listAssistants(flags, context));
  addInspectionOptions(
    assistants
      .command('show')
      .description('Shows an assistant, and what its graph takes, keeps and answers.')
      .argument('<assistant>', 'its id, or the name of a graph for its default assistant', parseNonEmptyText)
      .option('--graph', 'the edges of its graph, too', false),
    'the assistant',
  ).action((id, flags) => showAssistant(id, flags, context));
}
