import { type Command, Option } from 'commander';
import type { CommandContext } from '../command-context.ts';
import { makeNewProject, type NewFlags } from '../new/new.ts';
import { LANGUAGES, TEMPLATES } from '../new/templates.ts';

const HELP = `
The project runs with a fake model and without any key. What is not given is asked for, where there is a terminal.

Examples:
  runyard new my-agent
  runyard new my-agent --template retrieval --language python`;

export function addNewCommand(program: Command, context: CommandContext): void {
  program
    .command('new')
    .summary('make a project from a template')
    .description('Makes a project from a template, in a folder that is absent or empty.')
    .argument('[dir]', 'the folder of the project')
    .addOption(new Option('-t, --template <name>', 'what kind of agent').choices(TEMPLATES.map(({ name }) => name)))
    .addOption(
      new Option('-l, --language <language>', 'what it is written in').choices(LANGUAGES.map(({ name }) => name)),
    )
    .option('--list', 'list the templates, and make nothing', false)
    .option('--no-input', 'never ask; fail where something is missing')
    .addHelpText('after', HELP)
    .action((directory: string | undefined, flags: NewFlags) => makeNewProject(directory, flags, context));
}
