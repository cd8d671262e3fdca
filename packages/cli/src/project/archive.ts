import type { Dirent } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findWorkspace } from '@runyard/package-managers';
import ignore, { type Ignore } from 'ignore';
import { create } from 'tar';
import { CliError, ExitCode } from '../cli-error.ts';
import { LOCAL_DATA_FOLDER } from '../local-data-folder.ts';
import type { DeployableProject } from './project.ts';

/** Bytes of an archive that cause a warning. */
const LARGE = 50 * 1024 * 1024;
/** The platform's limit in bytes. */
const TOO_LARGE = 200 * 1024 * 1024;
export const MEBIBYTE = 1024 * 1024;

/** Files that every build creates anew, or that must not leave the machine. */
const NEVER_TAKEN = new Set([
  'node_modules',
  '.git',
  '__pycache__',
  '.venv',
  'venv',
  '.tox',
  '.mypy_cache',
  '.langgraph_api',
  LOCAL_DATA_FOLDER,
]);

export interface Archive {
  /** Number of files in the archive. */
  files: number;
  path: string;
  bytes: number;
  warnings: string[];
  remove(): Promise<void>;
}

/**
 * Makes a gzipped tar of a project's files, without those that `.dockerignore` and `.gitignore` name, symbolic links,
 * and the file of its secrets, which are sent separately.
 *
 * @throws CliError when it would exceed the platform's limit, or lack `langgraph.json`
 */
export async function archiveProject(project: DeployableProject, signal: AbortSignal): Promise<Archive> {
  const { files, links } = await listFiles(project, signal);
  if (!files.includes(project.configPath)) {
    throw new CliError(
      `${project.configPath} is named by .dockerignore or .gitignore: nothing could be deployed.`,
      ExitCode.usage,
    );
  }
  const folder = await mkdtemp(join(tmpdir(), 'runyard-archive-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const path = join(folder, 'source.tar.gz');
    // Portable archives have no owners and times, so that the same files give the same archive.
    const options = { gzip: true, portable: true, noDirRecurse: true, follow: false, cwd: project.folder, file: path };
    // A name that begins with @ would include the entries of that archive.
    await create(
      options,
      files.map((file) => (file.startsWith('@') ? `./${file}` : file)),
    );
    signal.throwIfAborted();
    const { size: bytes } = await stat(path);
    if (bytes > TOO_LARGE) throw tooLarge(bytes);
    const warnings = [...createWarnings(bytes, links), ...(await workspaceWarnings(project.folder))];
    return { path, bytes, files: files.length, warnings, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

const size = (bytes: number) => `${(bytes / MEBIBYTE).toFixed(1)} MB`;
const HINT = 'Name large files (model weights, data sets) in .dockerignore or .gitignore.';

function tooLarge(bytes: number): CliError {
  return new CliError(
    `The archive of the project is ${size(bytes)}, more than the 200 MB that are taken. ${HINT}`,
    ExitCode.usage,
  );
}

function createWarnings(bytes: number, links: string[]): string[] {
  const few = links.slice(0, 3).join(', ');
  return [
    ...(bytes > LARGE ? [`The archive is ${size(bytes)}. ${HINT}`] : []),
    ...(links.length > 0
      ? [`Symbolic links are left out: ${few}${links.length > 3 ? ` and ${links.length - 3} more` : ''}.`]
      : []),
  ];
}

async function workspaceWarnings(folder: string): Promise<string[]> {
  const workspace = await findWorkspace(folder);
  if (workspace === null) return [];
  return [
    `The folder is a member of the workspace ${workspace}, of which nothing else is sent, its lock file neither. A project that needs more of it has its langgraph.json there.`,
  ];
}

/** Lists paths relative to the project's folder, with `/`, in a fixed order. */
async function listFiles(
  project: DeployableProject,
  signal: AbortSignal,
): Promise<{ files: string[]; links: string[] }> {
  const rules = ignore().add([...(await linesOf(project, '.dockerignore')), ...(await linesOf(project, '.gitignore'))]);
  const found: { files: string[]; links: string[] } = { files: [], links: [] };
  await walk('', { project, rules, found, signal });
  return found;
}

async function linesOf({ folder }: DeployableProject, name: string): Promise<string[]> {
  const text = await readFile(join(folder, name), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw new CliError(`${join(folder, name)} cannot be read: ${error.message}`, ExitCode.usage);
  });
  return text.split(/\r?\n/);
}

interface Walk {
  project: DeployableProject;
  rules: Ignore;
  found: { files: string[]; links: string[] };
  signal: AbortSignal;
}

async function walk(inside: string, { project, rules, found, signal }: Walk): Promise<void> {
  signal.throwIfAborted();
  const entries: Dirent[] = await readdir(join(project.folder, inside), { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = inside + entry.name;
    if (NEVER_TAKEN.has(entry.name) || path === project.envFile) continue;
    // A later rule cannot include a file in an ignored folder again, as in git.
    if (rules.ignores(entry.isDirectory() ? `${path}/` : path)) continue;
    if (entry.isDirectory()) await walk(`${path}/`, { project, rules, found, signal });
    else if (entry.isSymbolicLink()) found.links.push(path);
    else if (entry.isFile()) found.files.push(path);
  }
}
