import { Command, CommanderError } from 'commander';
import { CliError, ExitCode, InterruptedError } from './cli-error.ts';
import type { CommandContext } from './command-context.ts';
import { addAssistantCommands } from './commands/assistant-commands.ts';
import { addAuditCommand } from './commands/audit-command.ts';
import { addBuildCommand } from './commands/build-command.ts';
import { addCompletionCommand } from './commands/completion-command.ts';
import { addDeployCommand } from './commands/deploy-command.ts';
import { addDeploymentCommands } from './commands/deployment-commands.ts';
import { addDevCommands } from './commands/dev-command.ts';
import { addMoveCommands } from './commands/move-commands.ts';
import { addNewCommand } from './commands/new-command.ts';
import { addRunCommands } from './commands/run-commands.ts';
import { addThreadCommands } from './commands/thread-commands.ts';
import { createPainter } from './output/colours.ts';
import { toJsonLine } from './output/json-line.ts';
import { toPlainText } from './output/plain-text.ts';

/** @param version of the command @returns the exit code */
export async function run(args: string[], context: CommandContext, version: string): Promise<number> {
  let exitCode: number = ExitCode.done;
  const program = createProgram(context, version, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    return explain(error, args, context);
  }
}

function createProgram(context: CommandContext, version: string, end: (exitCode: number) => void): Command {
  const { stdout, stderr } = context;
  const program = new Command('runyard')
    .description('Deploys LangGraph projects to a Runyard platform, and runs one on this machine.')
    .version(version)
    // An option after the name of a subcommand belongs to the subcommand.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
      getOutHasColors: () => stdout.hasColors?.() === true,
      getErrHasColors: () => stderr.hasColors?.() === true,
    })
    .showHelpAfterError('(--help tells the options)');
  addNewCommand(program, context);
  addDeploymentCommands(addDeployCommand(program, context, end), context);
  addBuildCommand(program, context);
  addDevCommands(program, context, end);
  addThreadCommands(program, context);
  addRunCommands(program, context, end);
  addAssistantCommands(program, context);
  addMoveCommands(program, context, end);
  addAuditCommand(program, context);
  addCompletionCommand(program, context);
  return program;
}

function explain(error: unknown, args: string[], { stdout, stderr, interrupted }: CommandContext): number {
  const report = (message: string, exitCode: number) =>
    void stdout.write(`${toJsonLine({ event: 'error', message, exit_code: exitCode })}\n`);
  const isForPrograms = args.includes('--json');
  if (error instanceof CommanderError) {
    // Commander has printed the error or the help for the user.
    if (error.exitCode === 0) return ExitCode.done;
    if (isForPrograms) report(error.message.replace(/^error: /, ''), ExitCode.usage);
    return ExitCode.usage;
  }
  const known = interrupted.aborted ? interrupted.reason : error;
  const exitCode = known instanceof CliError ? known.exitCode : ExitCode.failed;
  // Any other error is a bug of the command, and is shown with its stack.
  const message = known instanceof CliError ? known.message : ((known as Error).stack ?? String(known));
  if (isForPrograms) report(message, exitCode);
  else {
    const colour = known instanceof InterruptedError ? 'yellow' : 'red';
    // Servers say a part of it.
    stderr.write(`${createPainter(stderr)(colour, toPlainText(message))}\n`);
  }
  return exitCode;
}
