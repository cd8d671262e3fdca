import type { Deployment } from '@runyard/contracts';
import { CliError, ExitCode } from '../cli-error.ts';

/** The place of the build, and a sentence that explains it. */
export interface BuildMode {
  isRemote: boolean;
  why: string;
}

/**
 * Decides whether the platform builds the project.
 *
 * @param asked `--remote` true, `--no-remote` false, neither undefined
 * @param existing the deployment, if there is one: its kind decides when no flag does
 * @param findObstacle a sentence why no image can be built on this machine; null when one can
 */
export async function chooseBuildMode(options: {
  asked: boolean | undefined;
  existing: Deployment | undefined;
  hasImage: boolean;
  findObstacle: () => Promise<string | null>;
}): Promise<BuildMode> {
  const { asked, existing, hasImage } = options;
  if (hasImage && asked) throw new CliError('--image is built already: leave --remote out.', ExitCode.usage);
  if (hasImage) return { isRemote: false, why: 'The image that --image names is pushed; nothing is built.' };
  if (asked === true) return { isRemote: true, why: 'Built by the platform, as --remote asks.' };
  if (asked === undefined && existing && existing.source !== 'internal_docker') {
    return { isRemote: true, why: 'Built by the platform: this deployment has no images from here.' };
  }
  const obstacle = await options.findObstacle();
  if (obstacle === null) {
    return {
      isRemote: false,
      why: 'Built on this machine, where a container engine runs (--remote has the platform do it).',
    };
  }
  if (asked === undefined) return { isRemote: true, why: `Built by the platform: ${obstacle}` };
  throw new CliError(`${obstacle} Leave --no-remote out to have the platform build it.`, ExitCode.usage);
}
