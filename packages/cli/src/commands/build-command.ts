import type { Command } from 'commander';
import { type BuildFlags, build } from '../build/build.ts';
import type { CommandContext } from '../command-context.ts';
import { HumanProgress } from '../output/human-progress.ts';
import { createJsonProgress } from '../output/json-progress.ts';
import { jsonOption, parseNonEmptyText } from './options.ts';

const HELP = `
The image has the files that \`runyard deploy\` sends, installed on the base image, and none of the project's variables.
\`runyard deploy --image\` deploys it. Options that this command does not know are those of \`docker build\`.

Examples:
  runyard build -t my-agent:1
  runyard build -t registry.example.com/my-agent:1 --base-image registry.example.com/agent-server:20 --push
  runyard build -t my-agent:1 --build-command "npm run build" --build-arg STAGE=test

Exit codes: 0 built, 1 the build failed, 2 wrong use, or no engine or base image, 130 interrupted.`;

export function addBuildCommand(program: Command, context: CommandContext): void {
  program
    .command('build')
    .summary('build an image of the project in this folder')
    .description('Builds an image of the LangGraph project in this folder by the container engine of this machine.')
    .argument('[docker-args...]', 'further arguments of `docker build`')
    .requiredOption('-t, --tag <tag>', 'the name of the image, with a tag', parseNonEmptyText)
    .option('-c, --config <path>', 'the project: its langgraph.json, or the folder of it', '.')
    .option(
      '--platform <platforms>',
      'what the image is for (default: linux/amd64, as of deployments)',
      parseNonEmptyText,
    )
    .option('--base-image <image>', 'what it is built from (default: runyard/agent-server:20)', parseNonEmptyText)
    .option('--pull', 'get the newest of the base image; needs --base-image', false)
    .option('--no-pull', 'take the base image of this machine, if it has one (the default)')
    .option('--install-command <command>', "installs the project's packages (default: what its lock file asks for)")
    .option('--build-command <command>', 'builds the project after that')
    .addOption(jsonOption('progress'))
    .allowUnknownOption()
    .addHelpText('after', HELP)
    .action(async (args: string[], flags: BuildFlags & { json: boolean }) => {
      const progress = flags.json ? createJsonProgress(context.stdout) : new HumanProgress(context.stdout);
      try {
        await build(flags, args, context, progress);
      } finally {
        progress.close();
      }
    });
}
