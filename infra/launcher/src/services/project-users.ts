import { execFile } from 'node:child_process';
import { chmod, readdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { promisify } from 'node:util';
import { InfrastructureError } from '@runyard/local-infra';
import type { ProjectFolder } from '../project/read-project.ts';
import { findInaccessible, findInaccessibleBelow } from './inaccessible-paths.ts';

/** The variable of builder and data-plane with the users that run the code of projects and builds. */
export interface ProjectUserSettings {
  PROJECT_USERS: string;
}

export interface ProjectUserChoice {
  /** Null when projects and builds run as the user of the platform. */
  settings: ProjectUserSettings | null;
  /** Reports whose rights the code of projects has, for the person who starts the platform. */
  line: string;
}

/** Ids without an entry in the system's list of users, far from those that have one. */
const HIGHEST = { uid: 999_999_999, gid: 999_999_999 };
const SETTINGS: ProjectUserSettings = { PROJECT_USERS: `100000-${HIGHEST.uid}` };
/**
 * Folders that others close: builder and data-plane close what is in theirs, and Postgres what is in the one
 * that its account has to get through.
 */
const CLOSED_FROM_WITHIN: ReadonlySet<string> = new Set(['builder', 'data-plane', 'postgres']);
/** Folders whose bundles start processes with code of projects. */
const STARTING_HOSTS = ['services/agent-api', 'services/run-worker', 'infra/agent-services', 'services/builder'];
const VARIABLE = 'RUNYARD_PROJECT_USERS';
const ADVICE = 'run code that you trust (docs/security.md)';

/**
 * Decides which users run the code of projects and builds. Only root can start processes of other users, and those
 * users have to reach this checkout, Node.js, the project, its Python and the data folder: where one of them is closed
 * to others, or where no process of theirs can be started, projects run as root.
 *
 * @throws InfrastructureError when RUNYARD_PROJECT_USERS is neither left out nor `off`
 */
export async function chooseProjectUsers(options: {
  repository: string;
  dataDir: string;
  project: ProjectFolder;
  /** The environment in which the platform is started. */
  environment: NodeJS.ProcessEnv;
}): Promise<ProjectUserChoice> {
  const setting = options.environment[VARIABLE] || undefined;
  if (setting !== undefined && setting !== 'off') {
    throw new InfrastructureError(`${VARIABLE} is ${setting}: leave it out, or set it to off.`);
  }
  if (process.geteuid?.() !== 0) {
    return { settings: null, line: `run as your own user and can read what it can: ${ADVICE}` };
  }
  if (setting === 'off') return asRoot(`${VARIABLE} is off`);
  const closed = await findObstacle(options);
  if (closed !== null) return asRoot(`${closed} is closed to other users`);
  if (!(await canStartAs(HIGHEST))) return asRoot('no processes of other users can be started here');
  return { settings: SETTINGS, line: 'run as users of their own, who read nothing of the platform (docs/security.md)' };
}

/**
 * Returns whether root can start processes as this user: a container may have taken that right from it, or know no such
 * user.
 */
function canStartAs(user: { uid: number; gid: number }): Promise<boolean> {
  return promisify(execFile)(process.execPath, ['--version'], user).then(
    () => true,
    () => false,
  );
}

function asRoot(reason: string): ProjectUserChoice {
  return { settings: null, line: `run as root and can read everything, as ${reason}: ${ADVICE}` };
}

async function findObstacle(options: {
  repository: string;
  dataDir: string;
  project: ProjectFolder;
  environment: NodeJS.ProcessEnv;
}): Promise<string | null> {
  const { repository, dataDir, project, environment } = options;
  const child = (folder: string) => join(repository, folder, 'dist/graph-host-child.js');
  const certificates = environment.NODE_EXTRA_CA_CERTS;
  const files = [process.execPath, ...STARTING_HOSTS.map(child)];
  if (certificates) files.push(certificates);
  if (project.python !== null) files.push(project.python);
  return (
    // closeDataFolder opens the folder itself.
    (await findInaccessible([dataDir], 'reach')) ??
    (await findInaccessible([tmpdir()], 'pass')) ??
    (await findInaccessible([...files, project.folder], 'read')) ??
    // The services read its `env` file, and pass the variables on.
    (await findInaccessibleBelow(project.folder, { except: [dataDir, project.envFile ?? dataDir] }))
  );
}

/**
 * Closes all of the data folder to other users except the way to their projects and builds. The way to each of `open`
 * stays as it is: a project may be in the data folder.
 */
export async function closeDataFolder(dataDir: string, open: string[]): Promise<void> {
  for (const name of await readdir(dataDir)) {
    const path = join(dataDir, name);
    const isOnTheWay = open.some((folder) => `${folder}${sep}`.startsWith(`${path}${sep}`));
    if (CLOSED_FROM_WITHIN.has(name) || isOnTheWay) continue;
    const found = await stat(path).catch(() => null);
    if (found) await chmod(path, found.mode & 0o700);
  }
  await chmod(dataDir, 0o711);
}
