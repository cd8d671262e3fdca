import { access, constants, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { GraphLoadError } from '@runyard/host-protocol';
import { isTooOld, OLDEST_PYTHON } from './python-version.ts';

/**
 * Finds the environment with the packages of a Python project: `.venv` beside its file, else the active one.
 *
 * @param active the value of VIRTUAL_ENV
 * @returns its folder; undefined for the packages of the system's Python
 * @throws GraphLoadError when the Python of the environment beside its file is not on this machine, or the one found is
 *   too old
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
  if (place !== undefined) await refuseOld(place);
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

/** An environment says in a file which Python it was made with: `venv` and uv under different names. */
async function refuseOld(environment: string): Promise<void> {
  const settings = await readFile(join(environment, 'pyvenv.cfg'), 'utf8').catch(() => '');
  const [, version] = /^version(?:_info)? *= *(\d+\.\d+)/m.exec(settings) ?? [];
  if (version === undefined || !isTooOld(version)) return;
  throw new GraphLoadError(
    `The environment ${environment} has Python ${version}; ${OLDEST_PYTHON} or newer is needed: make it again with one.`,
  );
}

async function isProgram(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
