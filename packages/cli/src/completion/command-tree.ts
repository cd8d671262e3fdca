import type { Command, Option } from 'commander';

/** A command as completions need it. */
export interface CommandNode {
  /** Its words behind the program's name, with a space between them; '' for the program. */
  path: string;
  commands: { name: string; description: string }[];
  options: OptionNode[];
  /** The words that its arguments may be; empty where they are anything, such as files. */
  choices: string[];
}

interface OptionNode {
  /** `--name`, and `-n` where it has one. */
  flags: string[];
  description: string;
  takesValue: boolean;
  /** The values that it may have; empty where they are anything. */
  choices: string[];
}

/** Returns all commands of a program that its help shows, the program first. */
export function readCommandTree(program: Command): CommandNode[] {
  return nodesBelow(program, []);
}

function nodesBelow(command: Command, path: string[]): CommandNode[] {
  const help = command.createHelp();
  const below = help.visibleCommands(command);
  const node: CommandNode = {
    path: path.join(' '),
    commands: below.map((each) => ({ name: each.name(), description: help.subcommandDescription(each) })),
    options: help.visibleOptions(command).map(readOption),
    choices: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
  };
  // Commander makes `help` for whoever asks; it has no options of its own.
  return [
    node,
    ...below.filter((each) => each.name() !== 'help').flatMap((each) => nodesBelow(each, [...path, each.name()])),
  ];
}

function readOption({ short, long, description, required, optional, argChoices }: Option): OptionNode {
  return {
    flags: [short, long].filter((flag) => flag !== undefined),
    description,
    takesValue: required || optional,
    choices: argChoices ?? [],
  };
}
