import { access, constants, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { GraphLoadError } from '@runyard/host-protocol';

/**
 * Finds the environment with the packages of a Python project: `.venv` beside its file, else the active one.
 *
 * @param active the value of VIRTUAL_ENV
 * @returns its folder; undefined for the packages of the system's Python
 * @throws GraphLoadError when the Python of the environment beside its file is not on this machine
 */
export async function findPythonEnvironment(
  directory: string,
  active: string | undefined,
): Promise<string | undefined> {
  const own = join(directory, '.venv');
  const places = [own, ...(active ? [active] : [])];
  const found = await Promise.all(places.map((folder) => isProgram(pythonOf(folder))));
  const place = places[found.indexOf(true)];
  if (place !== own) await refuseMoved(own);
  return place;
}

/** The program of an environment that runs Python with its packages. */
export function pythonOf(environment: string): string {
  return join(environment, 'bin/python');
}

/** An environment contains a link to its Python. Whoever brings it from another machine may not have that. */
async function refuseMoved(environment: string): Promise<void> {
  const target = await readlink(pythonOf(environment)).catch(() => null);
  if (target === null) return;
  throw new GraphLoadError(`The packages of the project were installed for ${target}, and it cannot be run here.`);
}

async function isProgram(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
