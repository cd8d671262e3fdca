import { createHash } from 'node:crypto';
import { readFile, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { InfrastructureError, reasonOf } from '@runyard/local-infra';

/** A LangGraph project on this machine, as far as starting it goes. */
export interface Project {
  folder: string;
  /** The folder's name, fit for a deployment. */
  name: string;
  /** Differs for two folders of the same name. */
  distinctName: string;
  /** Names of its graphs, in the file's order. */
  graphs: [string, ...string[]];
}

export async function readProject(folder: string): Promise<Project> {
  const path = await realpath(folder).catch(() => {
    throw new InfrastructureError(`There is no folder ${folder}: name your project's folder with --project.`);
  });
  const text = await readFile(join(path, 'langgraph.json'), 'utf8').catch(() => {
    throw new InfrastructureError(
      `${path} has no langgraph.json: name the folder of a LangGraph project with --project.`,
    );
  });
  const [first, ...others] = Object.keys(parse(text, path).graphs ?? {});
  if (!first) throw new InfrastructureError(`${path}/langgraph.json names no graphs.`);
  const name = basename(path).replace(/[^A-Za-z0-9._-]+/g, '-') || 'project';
  const distinctName = `${name}-${createHash('sha256').update(path).digest('hex').slice(0, 6)}`;
  return { folder: path, name, distinctName, graphs: [first, ...others] };
}

function parse(text: string, folder: string): { graphs?: object } {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new InfrastructureError(`${folder}/langgraph.json is not valid JSON: ${reasonOf(error)}.`);
  }
}
