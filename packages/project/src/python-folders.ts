/** Folders that `dependencies` of a Python project names, as the places that modules are imported from. */
import { readdir } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { GraphLoadError } from '@runyard/host-protocol';

/** Packages that every project runs with. Installed ones come first, so nobody would import a folder of that name. */
const TAKEN_NAMES = new Set([
  'fastapi',
  'httpx',
  'langchain_core',
  'langgraph',
  'langgraph_api',
  'langgraph_sdk',
  'langsmith',
  'orjson',
  'psycopg',
  'pydantic',
  'uvicorn',
]);

/**
 * Returns where modules of a folder are imported from. A folder that is a package itself is imported by its name; the
 * project's own has no name where it was uploaded.
 *
 * @throws GraphLoadError when the folder has a package that nobody could import
 */
export async function importPathOf(folder: string, directory: string): Promise<string> {
  const entries = await namesIn(folder);
  const isPackage = entries.includes('__init__.py') && folder !== directory;
  // A folder that is installed by its own settings has the names that these say.
  if (!entries.includes('pyproject.toml') && !entries.includes('setup.py')) {
    const shown = `langgraph.json: "dependencies" names ./${relative(directory, folder)}`;
    const names = isPackage ? [basename(folder)] : await packagesIn(folder, entries);
    refuseNames(names, isPackage ? `${shown}, a package` : `${shown}, with a package`);
  }
  return isPackage ? dirname(folder) : folder;
}

function refuseNames(names: readonly string[], shown: string): void {
  const taken = names.find((name) => TAKEN_NAMES.has(name));
  if (taken !== undefined) {
    throw new GraphLoadError(`${shown} "${taken}", which is also what the project runs with: rename the folder.`);
  }
  const unnamable = names.find((name) => name.includes('-'));
  if (unnamable !== undefined) {
    throw new GraphLoadError(`${shown}, and "${unnamable}" cannot be imported: rename the folder.`);
  }
}

/** Returns the folders with modules that have a name which is taken. */
async function packagesIn(folder: string, entries: readonly string[]): Promise<string[]> {
  const taken = entries.filter((name) => TAKEN_NAMES.has(name));
  const contents = await Promise.all(taken.map((name) => namesIn(join(folder, name))));
  return taken.filter((_, index) => contents[index]?.some((name) => name.endsWith('.py')));
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}
