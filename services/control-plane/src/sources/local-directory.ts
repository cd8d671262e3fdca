import { stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve } from 'node:path';
import { GraphLoadError, readProject } from '@runyard/graph-host';
import { BadRequestError } from '@runyard/service-kit';

/** A project in a folder of this machine, ready to be run. */
export interface LocalProject {
  directory: string;
  /** Absolute. */
  configPath: string;
  /** The project checks its callers itself. */
  hasCustomAuth: boolean;
  /** Variables its `langgraph.json` asks for. */
  env: Record<string, string>;
}

export interface LocalDirectory {
  project_path?: string | null;
  langgraph_config_path?: string | null;
}

/**
 * Checks that the folder holds a project that can be read; loads none of its code.
 *
 * @throws BadRequestError with what is wrong
 */
export async function openLocalDirectory(source: LocalDirectory): Promise<LocalProject> {
  const path = source.project_path;
  if (!path) throw wrong("'source_config.project_path' is required for the source 'local_directory'");
  if (!isAbsolute(path)) throw wrong("'source_config.project_path' must be an absolute path");
  const directory = resolve(path);
  const isDirectory = await stat(directory).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isDirectory) throw wrong(`there is no folder ${directory}`);
  const configPath = resolve(directory, source.langgraph_config_path ?? 'langgraph.json');
  if (relative(directory, configPath).startsWith('..')) {
    throw wrong("'source_revision_config.langgraph_config_path' must be inside the project's folder");
  }
  try {
    const project = await readProject(directory, configPath);
    return { directory, configPath, hasCustomAuth: project.auth !== null, env: project.env };
  } catch (error) {
    if (error instanceof GraphLoadError) throw wrong(error.message, error);
    throw error;
  }
}

function wrong(message: string, cause?: unknown): BadRequestError {
  return new BadRequestError(`Source configuration error: ${message.replace(/\.$/, '')}.`, { cause });
}
