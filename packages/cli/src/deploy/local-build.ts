import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DeploymentPatch, PushToken, Secret } from '@runyard/contracts';
import { buildImage } from '../build/build-image.ts';
import { CliError } from '../cli-error.ts';
import type { ControlPlane } from '../connection/control-plane.ts';
import { PlatformRefusedError } from '../connection/refusals.ts';
import type { Engine } from '../docker/engine.ts';
import type { Steps } from '../output/steps.ts';
import { toDeploymentName } from '../project/deployment-name.ts';
import type { DeployableProject } from '../project/project.ts';

const PUSHES = 3;

export interface LocalBuildOptions {
  controlPlane: ControlPlane;
  engine: Engine;
  steps: Steps;
  project: DeployableProject;
  deploymentId: string;
  secrets: Secret[];
  /** An existing image: nothing is built. */
  image: string | undefined;
  baseImage: string | undefined;
  imageName: string;
  tag: string;
  installCommand: string | undefined;
  buildCommand: string | undefined;
  verbose: boolean;
  interrupted: AbortSignal;
}

/** Builds a project's image on this machine, pushes it, and returns the change that deploys it. */
export async function pushImage(options: LocalBuildOptions): Promise<DeploymentPatch> {
  const { engine } = options;
  const scratch = await mkdtemp(join(tmpdir(), 'runyard-image-'));
  const built = options.image === undefined ? `runyard-deploy:${randomBytes(6).toString('hex')}` : undefined;
  try {
    if (built) await buildImage({ ...options, tag: built });
    const uri = await push(options.image ?? (built as string), scratch, options);
    return {
      revision_source: 'internal_docker',
      source_revision_config: { image_uri: uri },
      secrets: options.secrets,
    };
  } finally {
    await rm(scratch, { recursive: true, force: true });
    if (built && !options.interrupted.aborted) await engine.untag(built);
  }
}

/** @returns the image by its digest, if the engine knows it */
async function push(image: string, scratch: string, options: LocalBuildOptions): Promise<string> {
  const { engine, steps } = options;
  const { token, registry_url: url, username = 'oauth2accesstoken' } = await pushToken(options);
  const registry = url.replace(/^\w+:\/\//, '').replace(/(?<!\/)\/+$/, '');
  const name = `${registry}/${toDeploymentName(options.imageName)}:${options.tag}`;
  const configDir = join(scratch, 'login');
  await mkdir(configDir, { mode: 0o700 });
  steps.begin(`Pushing it as ${name}`);
  await engine.tag(image, name);
  await engine.login({ host: registry.split('/')[0] as string, username, password: token, configDir });
  const reportLine = (message: string) => steps.progress.report({ event: 'log', level: 'INFO', message });
  for (let tries = 1; ; tries += 1) {
    const pushed = await engine.push({ image: name, configDir, ...(options.verbose && { onLine: reportLine }) });
    if (pushed.code === 0) break;
    if (tries === PUSHES) {
      throw new CliError(`The image could not be pushed:\n${pushed.lastLines.join('\n')}`);
    }
    steps.warn(`The push failed (${pushed.lastLines.at(-1) ?? pushed.code}): once more.`);
  }
  const digest = await engine.digestOf(name);
  if (!digest) steps.warn('The engine does not know the digest of the image: it is deployed by its tag.');
  return digest ?? name;
}

async function pushToken({ controlPlane, deploymentId }: LocalBuildOptions): Promise<PushToken> {
  try {
    return await controlPlane.requestPushToken(deploymentId);
  } catch (error) {
    if (error instanceof PlatformRefusedError && error.status === 400 && /only available for/.test(error.detail)) {
      throw new CliError(
        `The deployment ${deploymentId} takes no images from here: use --remote, or another --name.`,
        error.exitCode,
        { cause: error },
      );
    }
    throw error;
  }
}
