import { type Command, Option } from 'commander';
import type { CommandContext } from '../command-context.ts';
import { deleteDeployment } from '../deployments/delete-deployment.ts';
import { halt, resume, showHalt } from '../deployments/halt.ts';
import { listDeployments } from '../deployments/list-deployments.ts';
import { listRevisions } from '../deployments/list-revisions.ts';
import { showLogs } from '../logs/show-logs.ts';
import { addBudgetCommands } from './budget-commands.ts';
import {
  addConnectionOptions,
  jsonOption,
  LOG_LEVELS,
  parseLogLevel,
  parseNonEmptyText,
  parsePointInTime,
  parseWholeNumber,
} from './options.ts';

const LOGS_HELP = `
Without --deployment-id or --name, the deployment of this folder's name is meant.

Examples:
  runyard deploy logs -f                       what the servers say, as they say it
  runyard deploy logs --level error -q timeout --start-time 2026-11-20T12:00:00Z
  runyard deploy logs --type build             of the newest revision's build`;

/** Adds the commands of deployments that exist: `deploy list`, `logs`, `delete`, `halt`, `resume`, `revisions`, `budgets`. */
export function addDeploymentCommands(deploy: Command, context: CommandContext): void {
  addConnectionOptions(
    deploy
      .command('list')
      .description('Lists the deployments of the workspace, newest first.')
      .option('--name-contains <text>', 'only those whose name contains it')
      .addOption(jsonOption('deployments')),
  ).action((flags) => listDeployments(flags, context));

  addConnectionOptions(
    deploy
      .command('logs')
      .description('Shows what the servers of a deployment logged, or the build of a revision.')
      .option('--name <name>', "the deployment's name", parseNonEmptyText)
      .option('--deployment-id <id>', 'the deployment', parseNonEmptyText)
      .addOption(
        new Option('--type <type>', 'of its servers, or of a build').choices(['deploy', 'build']).default('deploy'),
      )
      .option('--revision-id <id>', 'of this revision alone (a build: default the newest)', parseNonEmptyText)
      .option('--level <level>', `of this level and graver ones: ${LOG_LEVELS.join(', ')}`, parseLogLevel)
      .addOption(
        new Option('--limit <count>', 'so many of the newest').argParser(parseWholeNumber(1, 1_000)).default(100),
      )
      .option('-q, --query <text>', 'only what contains it')
      .option('--start-time <time>', 'from then on', parsePointInTime)
      .option('--end-time <time>', 'until then', parsePointInTime)
      .option('-f, --follow', 'go on with what comes, until Ctrl-C', false)
      .addOption(jsonOption('entries'))
      .addHelpText('after', LOGS_HELP),
  ).action((flags) => showLogs(flags, context));

  addConnectionOptions(
    deploy
      .command('delete')
      .description('Deletes a deployment with its database: threads, runs and all.')
      .argument('<id>', 'of the deployment (`runyard deploy list` shows it)', parseNonEmptyText)
      .option('--force', 'do not ask', false),
  ).action((id, flags) => deleteDeployment(id, flags, context));

  addHaltOptions(
    deploy
      .command('halt')
      .description('Kill switch: refuses new runs with the reason, and cancels those in flight.')
      .requiredOption('--reason <text>', 'why, in words for the clients that are refused', parseNonEmptyText)
      .addOption(
        new Option('--queued <fate>', 'runs that wait: kept until the resume, or cancelled')
          .choices(['keep', 'cancel'])
          .default('keep'),
      ),
  ).action((id, flags) => halt(id, flags, context));
  addHaltOptions(
    deploy.command('resume').description('Ends a halt; those of the workspace and the organization stay.'),
  ).action((id, flags) => resume(id, flags, context));
  addHaltOptions(
    deploy.command('halt-status').description('Shows what is halted, what runs still, and what is not yet reached.'),
  ).action((id, flags) => showHalt(id, flags, context));

  addBudgetCommands(deploy, context);

  const revisions = deploy.command('revisions').description('What became of the revisions of a deployment.');
  addConnectionOptions(
    revisions
      .command('list')
      .description('Lists the revisions of a deployment, newest first.')
      .argument('<id>', 'of the deployment', parseNonEmptyText)
      .addOption(new Option('--limit <count>', 'so many').argParser(parseWholeNumber(1, 100)).default(10))
      .addOption(jsonOption('revisions')),
  ).action((id, flags) => listRevisions(id, flags, context));
}

function addHaltOptions(command: Command): Command {
  return addConnectionOptions(
    command
      .argument('[id]', 'the deployment', parseNonEmptyText)
      .option('--workspace', 'all deployments of the workspace, also those made later', false)
      .option('--organization', 'all deployments of the organization, also those made later', false)
      .addOption(jsonOption('the state')),
  );
}
