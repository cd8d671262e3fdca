import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { extract } from 'tar';
import { generateDockerfile } from '../docker/dockerfile.ts';
import { BASE_IMAGE, type BuildSettings, type Engine } from '../docker/engine.ts';
import type { Steps } from '../output/steps.ts';
import { archiveProject } from '../project/archive.ts';
import type { DeployableProject } from '../project/project.ts';

export interface ImageOptions extends BuildSettings {
  engine: Engine;
  steps: Steps;
  project: DeployableProject;
  /** The name that the image gets. */
  tag: string;
  baseImage: string | undefined;
  installCommand: string | undefined;
  buildCommand: string | undefined;
  interrupted: AbortSignal;
}

/**
 * Builds a project's image from the same files that would be uploaded: it contains no ignored files and no file of the
 * secrets.
 *
 * @throws CliError
 */
export async function buildImage(options: ImageOptions): Promise<void> {
  const { engine, steps, project, tag, baseImage = BASE_IMAGE, installCommand, buildCommand } = options;
  const { platform, pull, args, interrupted } = options;
  steps.begin('Building the image');
  const folder = await mkdtemp(join(tmpdir(), 'runyard-image-'));
  try {
    await copyFiles(project, folder, steps, interrupted);
    const dockerfile = await generateDockerfile(project, { folder, baseImage, installCommand, buildCommand });
    const onLine = (message: string) => steps.progress.report({ event: 'log', level: 'INFO', message });
    await engine.build({ folder, dockerfile, tag, onLine, platform, pull, args });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function copyFiles(project: DeployableProject, folder: string, steps: Steps, signal: AbortSignal): Promise<void> {
  const archive = await archiveProject(project, signal);
  try {
    for (const warning of archive.warnings) steps.warn(warning);
    await mkdir(folder, { recursive: true });
    await extract({ file: archive.path, cwd: folder });
    // It has been followed; the engine would do so again, by other rules.
    await rm(join(folder, '.dockerignore'), { force: true });
  } finally {
    await archive.remove();
  }
}
