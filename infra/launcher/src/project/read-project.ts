import { createHash } from 'node:crypto';
import { readFile, realpath } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { findFaults, readProject as readProjectFile } from '@runyard/graph-host/project';
import { InfrastructureError, reasonOf } from '@runyard/local-infra';
import { findLockedRelease } from '@runyard/package-managers';
import { findMissingInstallation } from './install-dependencies.ts';

/** A LangGraph project on this machine, with what starting it needs. */
export interface Project {
  folder: string;
  /** The folder's name, made valid for a deployment. */
  name: string;
  /** A name that differs for two folders of the same name. */
  distinctName: string;
  /** Names of its graphs, in the file's order. */
  graphs: [string, ...string[]];
  /** The file with its variables, where `langgraph.json` names one. */
  envFile: string | null;
}

/** @throws InfrastructureError with everything that keeps the project from starting and that shows before it runs */
export async function readProject(folder: string): Promise<Project> {
  const path = await realpath(folder).catch(() => {
    throw new InfrastructureError(`There is no folder ${folder}: name your project's folder with --project.`);
  });
  const text = await readFile(join(path, 'langgraph.json'), 'utf8').catch(() => {
    throw new InfrastructureError(
      `${path} has no langgraph.json: name the folder of a LangGraph project with --project.`,
    );
  });
  const { graphs, env } = parse(text, path);
  const [first, ...others] = Object.keys(graphs ?? {});
  if (!first) throw new InfrastructureError(`${path}/langgraph.json names no graphs.`);
  await checkProject(path);
  const name = basename(path).replace(/[^A-Za-z0-9._-]+/g, '-') || 'project';
  const distinctName = `${name}-${createHash('sha256').update(path).digest('hex').slice(0, 6)}`;
  return {
    folder: path,
    name,
    distinctName,
    graphs: [first, ...others],
    envFile: typeof env === 'string' ? resolve(path, env) : null,
  };
}

async function checkProject(folder: string): Promise<void> {
  const project = await readProjectFile(folder, 'langgraph.json').catch((error: Error) => {
    throw new InfrastructureError(error.message);
  });
  const installation = await findMissingInstallation(folder);
  const faults = await findFaults(project, async (name, from) =>
    installation === null ? undefined : findLockedRelease(installation, name, from),
  );
  if (faults.length > 0) throw new InfrastructureError([`${folder} cannot be started:`, ...faults].join('\n'));
}

function parse(text: string, folder: string): { graphs?: object; env?: unknown } {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new InfrastructureError(`${folder}/langgraph.json is not valid JSON: ${reasonOf(error)}.`);
  }
}
