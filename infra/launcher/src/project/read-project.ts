import { createHash } from 'node:crypto';
import { access, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { InfrastructureError } from '@runyard/local-infra';
import { findLockedRelease } from '@runyard/package-managers';
import {
  findFaults,
  findPythonEnvironment,
  type Project,
  pythonOf,
  readProject as readProjectFile,
} from '@runyard/project';
import { findMissingInstallation } from './install-dependencies.ts';
import { findSources, type Sources } from './sources.ts';

/** A LangGraph project on this machine, with what starting it needs. */
export interface ProjectFolder {
  folder: string;
  /** The folder's name, made valid for a deployment. */
  name: string;
  /** A name that differs for two folders of the same name. */
  distinctName: string;
  /** Names of its graphs, in the file's order. */
  graphs: [string, ...string[]];
  /** The file with its variables, where `langgraph.json` names one. */
  envFile: string | null;
  /** The Python that runs it, where an environment has its packages; null for the system's, and for JavaScript. */
  python: string | null;
  sources: Sources;
}

/** @throws InfrastructureError with everything that keeps the project from starting and that shows before it runs */
export async function readProject(folder: string): Promise<ProjectFolder> {
  const path = await realpath(folder).catch(() => {
    throw new InfrastructureError(`There is no folder ${folder}: name your project's folder with --project.`);
  });
  await access(join(path, 'langgraph.json')).catch(() => {
    throw new InfrastructureError(
      `${path} has no langgraph.json: name the folder of a LangGraph project with --project.`,
    );
  });
  const project = await readProjectFile(path, 'langgraph.json').catch((error: Error) => {
    throw new InfrastructureError(error.message);
  });
  await checkProject(project);
  const name = basename(path).replace(/[^A-Za-z0-9._-]+/g, '-') || 'project';
  const distinctName = `${name}-${createHash('sha256').update(path).digest('hex').slice(0, 6)}`;
  return {
    folder: path,
    name,
    distinctName,
    graphs: project.graphs.map(({ graphId }) => graphId) as [string, ...string[]],
    envFile: project.envFile,
    python: project.language === 'python' ? await findPython(path) : null,
    sources: await findSources(project),
  };
}

async function findPython(folder: string): Promise<string | null> {
  const environment = await findPythonEnvironment(folder, process.env.VIRTUAL_ENV).catch((error: Error) => {
    throw new InfrastructureError(error.message);
  });
  return environment === undefined ? null : pythonOf(environment);
}

async function checkProject(project: Project): Promise<void> {
  const { directory } = project;
  const installation = await findMissingInstallation(directory);
  const faults = await findFaults(project, async (name, from) =>
    installation === null ? undefined : findLockedRelease(installation, name, from),
  );
  if (faults.length > 0) throw new InfrastructureError([`${directory} cannot be started:`, ...faults].join('\n'));
}
