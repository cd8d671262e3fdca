import { resolve } from 'node:path';
import { CliError, ExitCode } from '../cli-error.ts';
import type { CommandContext } from '../command-context.ts';
import { Engine } from '../docker/engine.ts';
import type { Progress } from '../output/progress-event.ts';
import { Steps } from '../output/steps.ts';
import { openProject } from '../project/project.ts';
import { buildImage } from './build-image.ts';

export interface BuildFlags {
  config: string;
  tag: string;
  platform?: string;
  baseImage?: string;
  pull: boolean;
  installCommand?: string;
  buildCommand?: string;
}

/** Options that this command gives the engine itself. */
const OWN_ARGS = ['-f', '--file', '--pull', '--platform', '--tag'];

/**
 * Builds the image of a folder's project, for a registry of one's own or `runyard deploy --image`.
 *
 * @param args further arguments of `docker build`
 */
export async function build(
  flags: BuildFlags,
  args: readonly string[],
  context: CommandContext,
  progress: Progress,
): Promise<void> {
  const { config, tag, platform, baseImage, pull, installCommand, buildCommand } = flags;
  const own = args.find((arg) => OWN_ARGS.includes(arg.replace(/=.*$/s, '')));
  if (own !== undefined)
    throw new CliError(`${own} is not passed on: the command gives it itself, or has it before --.`, ExitCode.usage);
  if (pull && baseImage === undefined)
    throw new CliError('--pull needs --base-image: the default base image is in no registry.', ExitCode.usage);
  const project = await openProject(resolve(context.cwd, config));
  const steps = new Steps(progress);
  for (const warning of project.warnings) steps.note(warning);
  const engine = new Engine(context);
  const obstacle = await engine.obstacle(baseImage, platform);
  if (obstacle !== null) throw new CliError(`It cannot be built here: ${obstacle}`, ExitCode.usage);
  const { interrupted } = context;
  await buildImage({
    engine,
    steps,
    project,
    tag,
    baseImage,
    installCommand,
    buildCommand,
    platform,
    pull,
    args,
    interrupted,
  });
  progress.report({ event: 'result', status: 'succeeded', message: `Built ${tag}.`, image: tag });
}
