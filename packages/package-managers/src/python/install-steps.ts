import { realpath, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { exists } from '../exists.ts';
import { ProjectError } from '../project-error.ts';
import { quote } from './shell.ts';

/** The packages of a project. Paths are absolute. */
export interface PythonRequirements {
  requirements: readonly string[];
  folders: readonly string[];
  lock: { folder: string; member: string | null } | null;
  /** Settings of pip. */
  pipConfigFile: string | null;
}

export type PythonInstaller = 'uv' | 'pip';

/** One command of an installation. */
export interface InstallStep {
  /** For the shell, with the environment of the project active. */
  command: string;
  folder: string;
}

export interface ProjectPlace {
  /** The highest folder of the source. */
  root: string;
  /** That of `langgraph.json`. */
  directory: string;
  /** The version of Python, as `3.12`. */
  version: string;
  /** A file of constraints, as a word of the shell. */
  constraints: string;
}

const INSTALL: Record<PythonInstaller, string> = {
  uv: 'uv pip install',
  pip: 'python -m pip install --no-compile',
};

/**
 * Returns the command that installs requirements into the active environment.
 *
 * @param constraints a file of constraints, as a word of the shell; null for none
 */
export function installCommand(
  installer: PythonInstaller,
  args: readonly string[],
  constraints: string | null,
): string {
  return [INSTALL[installer], ...(constraints === null ? [] : ['-c', constraints]), ...args.map(quote)].join(' ');
}

/**
 * Returns how the packages of a project are installed, in the order of the official image: requirements that
 * `dependencies` names, `requirements.txt` of its folders, and those folders that are packages, in place.
 *
 * @throws ProjectError
 */
export async function planSteps(
  { requirements, folders, lock, pipConfigFile }: PythonRequirements,
  installer: PythonInstaller,
  place: ProjectPlace,
): Promise<InstallStep[]> {
  if (pipConfigFile !== null) await checkInside(pipConfigFile, place, 'pip_config_file');
  if (lock) return [await syncStep(lock, installer, place)];
  for (const requirement of requirements) checkRequirement(requirement);
  for (const folder of folders) await checkFolder(folder, place);
  const { files, packages } = await sortFolders(folders, place.directory);
  const step = stepsOf(installer, place);
  return [...step(requirements), ...step(withOption('-r', files)), ...step(withOption('-e', packages))];
}

/**
 * Returns of those steps what only needs the files that name packages, for a place where nothing else of the project is
 * yet: `planSteps` has the rest, and what cannot be told without the project's code. uv takes them: pip reads no
 * requirements from `pyproject.toml`, and goes on without folders of packages that are not there yet.
 *
 * @throws ProjectError
 */
export async function planStepsAhead(
  { requirements, folders, lock }: PythonRequirements,
  place: ProjectPlace,
): Promise<InstallStep[]> {
  if (lock) {
    const { command, folder } = await syncStep(lock, 'uv', place);
    // The step that has the project asks whether the lock fits.
    return [{ command: `${command.replace('--locked', '--frozen')} --no-install-workspace`, folder }];
  }
  for (const requirement of requirements) checkRequirement(requirement);
  const { files, packages } = await sortFolders(folders, place.directory);
  const manifests = packages.map((folder) => join(folder, 'pyproject.toml'));
  // One of several folders may need another, which an index would be asked for: a stranger's would be installed.
  const isReadAhead = folders.length === 1 && (await existAll(manifests.map((path) => join(place.directory, path))));
  const step = stepsOf('uv', place);
  return [
    ...step(requirements),
    ...step(withOption('-r', files)),
    ...step(withOption('-r', isReadAhead ? manifests : [])),
  ];
}

/** Returns the files of requirements in folders, and those of them that are packages, as paths from `directory`. */
async function sortFolders(
  folders: readonly string[],
  directory: string,
): Promise<{ files: string[]; packages: string[] }> {
  const files: string[] = [];
  const packages: string[] = [];
  for (const folder of folders) {
    const path = relativeTo(directory, folder);
    if ((await exists(join(folder, 'pyproject.toml'))) || (await exists(join(folder, 'setup.py')))) packages.push(path);
    else if (await exists(join(folder, 'requirements.txt'))) files.push(join(path, 'requirements.txt'));
  }
  return { files, packages };
}

async function existAll(paths: readonly string[]): Promise<boolean> {
  return (await Promise.all(paths.map(exists))).every(Boolean);
}

const withOption = (option: string, paths: readonly string[]) => paths.flatMap((path) => [option, path]);

/** Returns what makes a step of arguments, and none of no arguments. */
function stepsOf(installer: PythonInstaller, { constraints, directory }: ProjectPlace) {
  return (args: readonly string[]): InstallStep[] =>
    args.length === 0 ? [] : [{ command: installCommand(installer, args, constraints), folder: directory }];
}

async function syncStep(
  { folder, member }: NonNullable<PythonRequirements['lock']>,
  installer: PythonInstaller,
  place: ProjectPlace,
): Promise<InstallStep> {
  if (installer !== 'uv') throw new ProjectError('"source" needs uv, and it is not used here.');
  await checkFolder(folder, place, 'source.root');
  for (const name of ['pyproject.toml', 'uv.lock']) {
    if (await exists(join(folder, name))) continue;
    throw new ProjectError(`"source" needs ${join(relativeTo(place.directory, folder), name)}, which does not exist.`);
  }
  const args = ['--locked', '--no-dev', '--python', place.version, ...(member === null ? [] : ['--package', member])];
  return { command: ['uv sync', ...args.map(quote)].join(' '), folder };
}

/** @throws ProjectError for one that pip would take for an option, and for one with a password in it */
function checkRequirement(requirement: string): void {
  if (requirement.startsWith('-')) {
    throw new ProjectError(`"dependencies" has ${requirement}, which is an option and no requirement.`);
  }
  const [name = '', address = ''] = requirement.split('://', 2);
  const [authority = ''] = address.split('/', 1);
  const [user = ''] = authority.split('@', 1);
  if (authority !== user && user.includes(':')) {
    const shown = `${name}://…${address.slice(user.length)}`;
    throw new ProjectError(`"dependencies" has a password in ${shown}: keep it in a secret of the deployment.`);
  }
}

async function checkFolder(folder: string, place: ProjectPlace, key = 'dependencies'): Promise<void> {
  const found = await checkInside(folder, place, key);
  if ((await stat(found)).isDirectory()) return;
  throw new ProjectError(`"${key}" names ${relativeTo(place.directory, folder)}, which is not a folder.`);
}

/** Follows links: what is installed has to be in the source. @returns where it is */
async function checkInside(path: string, { root, directory }: ProjectPlace, key: string): Promise<string> {
  const shown = `"${key}" names ${relativeTo(directory, path)}`;
  const isInside = (place: string, base: string) => place === base || place.startsWith(base + sep);
  if (!isInside(path, root)) throw new ProjectError(`${shown}, which leads out of the source.`);
  const found = await realpath(path).catch(() => null);
  if (found === null) throw new ProjectError(`${shown}, which does not exist.`);
  if (!isInside(found, await realpath(root))) throw new ProjectError(`${shown}, which leads out of the source.`);
  return found;
}

function relativeTo(directory: string, folder: string): string {
  const path = relative(directory, folder) || '.';
  return path.startsWith('.') ? path : `./${path}`;
}
