import type { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';
import { bashScript } from '../completion/bash-script.ts';
import { readCommandTree } from '../completion/command-tree.ts';
import { fishScript } from '../completion/fish-script.ts';
import { zshScript } from '../completion/zsh-script.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;
const SHELLS = Object.keys(SCRIPTS) as (keyof typeof SCRIPTS)[];

const HELP = `
For each new shell, in its own file of settings:
  ~/.bashrc                     eval "$(runyard completion bash)"
  ~/.zshrc, after compinit      source <(runyard completion zsh)
  ~/.config/fish/config.fish    runyard completion fish | source`;

/** Adds `completion`. It comes last, as its scripts have every command of the program. */
export function addCompletionCommand(program: Command, context: CommandContext): void {
  program
    .command('completion')
    .summary('print a script that completes this command in a shell')
    .description('Prints the script by which a shell completes the commands, options and values of this command.')
    .addArgument(program.createArgument('<shell>', 'the shell').choices(SHELLS))
    .addHelpText('after', HELP)
    .action((shell: keyof typeof SCRIPTS) => void context.stdout.write(SCRIPTS[shell](readCommandTree(program))));
}
