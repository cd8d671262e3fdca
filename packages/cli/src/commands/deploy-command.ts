import { type Command, Option } from 'commander';
import type { CommandContext } from '../command-context.ts';
import { type DeployFlags, deploy } from '../deploy/deploy.ts';
import { HumanProgress } from '../output/human-progress.ts';
import { createJsonProgress } from '../output/json-progress.ts';
import { addConnectionOptions, jsonOption, parseImageTag, parseNonEmptyText, parseWholeNumber } from './options.ts';

const HELP = `
The deployment is found by its name and updated in place; a new one is made when there is none. Its name is --name, else
RUNYARD_DEPLOYMENT_NAME or LANGSMITH_DEPLOYMENT_NAME, else that of the folder.

Variables of the project (\`env\` of langgraph.json, else .env) become secrets of the deployment, except the empty ones and
those the platform keeps for itself. Settings of this command are looked for there too, before the environment.

Examples:
  runyard deploy                                    this folder, as a deployment of type dev
  runyard deploy --deployment-type prod --name shop
  runyard deploy --remote --no-input --json         from a pipeline
  runyard deploy logs -f                            what its servers say

Exit codes: 0 deployed, 1 failed, 2 wrong use, 3 not allowed, 4 not found, 5 platform unreachable, 6 not waited for any
longer, 130 interrupted.`;

export function addDeployCommand(program: Command, context: CommandContext, end: (exitCode: number) => void): Command {
  const command = program
    .command('deploy')
    .usage('[options] [command]')
    // The command has no argument: this catches a misspelt subcommand.
    .argument('[command]')
    .summary('deploy the project in this folder; list, read, delete deployments')
    .description('Deploys the LangGraph project in this folder and waits until it serves.')
    .option('-c, --config <path>', 'the project: its langgraph.json, or the folder of it', '.')
    .option('--name <name>', "the deployment's name", parseNonEmptyText)
    .option('--deployment-id <id>', 'update this deployment, whatever its name', parseNonEmptyText)
    .addOption(
      new Option('--deployment-type <type>', 'of a new deployment (default: dev)').choices([
        'dev',
        'prod',
        'serverless',
        'dedicated',
      ]),
    )
    .option('--remote', 'have the platform build the project')
    .option('--no-remote', 'build an image on this machine and push it')
    .option('--install-command <command>', "installs the project's packages (default: what its lock file asks for)")
    .option('--build-command <command>', 'builds the project after that')
    .option('--image <image>', 'push this image of this machine and deploy it; nothing is built', parseNonEmptyText)
    .option('--base-image <image>', 'what an image is built from (default: runyard/agent-server:20)', parseNonEmptyText)
    .option('--image-name <name>', "of the pushed image (default: the deployment's)", parseNonEmptyText)
    .option('-t, --tag <tag>', 'of the pushed image', parseImageTag, 'latest')
    .option('--no-wait', 'do not wait for the revision to serve')
    .addOption(
      new Option('--timeout <seconds>', 'how long to wait for that')
        .argParser(parseWholeNumber(1, 86_400))
        .default(900),
    )
    .addOption(jsonOption('progress'))
    .addHelpText('after', HELP);
  addConnectionOptions(command).action(async (unknown: string | undefined, flags: DeployFlags & { json: boolean }) => {
    if (unknown !== undefined) {
      const known = command.commands.map((below) => below.name()).join(', ');
      command.error(`error: there is no command '${unknown}' below deploy: ${known}`);
    }
    const progress = flags.json ? createJsonProgress(context.stdout) : new HumanProgress(context.stdout);
    try {
      // Commander's default for an option that can be negated is true, even when neither --remote nor --no-remote is
      // given.
      const remote = command.getOptionValueSource('remote') === 'cli' ? flags.remote : undefined;
      end(await deploy({ ...flags, remote }, context, progress));
    } finally {
      progress.close();
    }
  });
  return command;
}
