import type { Command } from 'commander';
import { addConnectionOptions, collectHeader, jsonOption, parseNonEmptyText } from './options.ts';

/** Adds the options of every command that looks at an agent server. */
export function addInspectionOptions(command: Command, what: string): Command {
  return addConnectionOptions(
    command
      .option(
        '--deployment <deployment>',
        "its name, id or URL (default: the folder's, or the only one)",
        parseNonEmptyText,
      )
      .option('--url <url>', 'any LangGraph server, in place of a deployment', parseNonEmptyText)
      .option('--header <header>', 'of requests to it, as `name: value`; may be repeated', collectHeader)
      .addOption(jsonOption(what)),
  );
}
