import { stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve } from 'node:path';
import { GraphLoadError, readProject } from '@runyard/graph-host';
import { BadRequestError } from '@runyard/service-kit';

/** A runnable project in a folder of this machine. */
export interface LocalProject {
  directory: string;
  /** An absolute path. */
  configPath: string;
  /** True when the project authenticates its callers itself. */
  hasCustomAuth: boolean;
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
 * @throws BadRequestError that names the fault
 */
export async function openLocalDirectory(source: LocalDirectory): Promise<LocalProject> {
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
  try {
    const project = await readProject(directory, configPath);
    return { directory, configPath, hasCustomAuth: project.auth !== null, env: project.env };
  } catch (error) {
    if (error instanceof GraphLoadError) throw invalidProject(error.message, error);
    throw error;
  }
}

function invalidProject(message: string, cause?: unknown): BadRequestError {
  return new BadRequestError(`Source configuration error: ${message.replace(/\.$/, '')}.`, {
    code: 'source_invalid',
    cause,
  });
}
