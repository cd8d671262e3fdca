import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import type { SourceConfig, SourceRevisionConfig } from '@runyard/contracts';
import { GraphLoadError } from '@runyard/host-protocol';
import { type Project, readProject } from '@runyard/project';
import { BadRequestError } from '@runyard/service-kit';
import type { RolloutRevision } from './rollout-rows.ts';

/** A runnable project in a folder of this machine. */
export interface LocalProject {
  directory: string;
  /** An absolute path. */
  configPath: string;
  /** True when the platform has built it of a caller's sources; false for a folder that is run in place. */
  isBuilt: boolean;
  /** True when the project authenticates its callers itself. */
  hasCustomAuth: boolean;
  /** The `auth` section of its `langgraph.json`; null: none. */
  authSettings: Project['authSettings'];
  /** Variables from the `env` of its `langgraph.json`. */
  env: Record<string, string>;
}

export interface LocalDirectory {
  project_path?: string | null;
  langgraph_config_path?: string | null;
}

/**
 * Checks that the folder contains a readable project, without loading its code.
 *
 * @param options.isBuilt whether the folder was built of a caller's sources: then this service reads nothing outside of
 *   it, whatever paths and links say, as it has more rights than the caller
 * @throws BadRequestError that names the fault
 */
export async function openLocalDirectory(
  source: LocalDirectory,
  { isBuilt = false }: { isBuilt?: boolean } = {},
): Promise<LocalProject> {
  const path = source.project_path;
  if (!path) throw invalidProject("'source_config.project_path' is required for the source 'local_directory'");
  if (!isAbsolute(path)) throw invalidProject("'source_config.project_path' must be an absolute path");
  const directory = resolve(path);
  const isDirectory = await stat(directory).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isDirectory) throw invalidProject(`there is no folder ${directory}`);
  const configPath = resolve(directory, source.langgraph_config_path ?? 'langgraph.json');
  if (relative(directory, configPath).startsWith('..')) {
    throw invalidProject("'source_revision_config.langgraph_config_path' must be inside the project's folder");
  }
  const readable = async (file: string) => {
    if (isBuilt && !(await isInside(directory, file))) throw invalidProject(`${file} leads out of the source`);
  };
  await readable(configPath);
  try {
    const project = await readProject(directory, configPath);
    if (project.envFile !== null) await readable(project.envFile);
    const { auth, authSettings, env } = project;
    return { directory, configPath, isBuilt, hasCustomAuth: auth !== null, authSettings, env };
  } catch (error) {
    if (error instanceof GraphLoadError) throw invalidProject(error.message, error);
    throw error;
  }
}

/** Opens the folder that a revision names. @throws BadRequestError that names the fault */
export function openFolderOf({
  sourceConfig,
  sourceRevisionConfig,
}: Pick<RolloutRevision, 'sourceConfig' | 'sourceRevisionConfig'>): Promise<LocalProject> {
  return openLocalDirectory({ ...(sourceConfig as SourceConfig), ...(sourceRevisionConfig as SourceRevisionConfig) });
}

/** Returns whether the file is in the folder, or does not exist. Links are followed. */
async function isInside(folder: string, file: string): Promise<boolean> {
  const target = await realpath(file).catch(() => null);
  return target === null || target.startsWith((await realpath(folder)) + sep);
}

function invalidProject(message: string, cause?: unknown): BadRequestError {
  return new BadRequestError(`Source configuration error: ${message.replace(/\.$/, '')}.`, {
    code: 'source_invalid',
    cause,
  });
}
