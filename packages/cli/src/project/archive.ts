import type { Dirent } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { workspaceOf } from '@runyard/package-managers';
import ignore, { type Ignore } from 'ignore';
import { create } from 'tar';
import { CliError, ExitCode } from '../cli-error.ts';
import { LOCAL_DATA_FOLDER } from '../connection/settings.ts';
import type { Project } from './project.ts';

/** Bytes of an archive from which on it is worth a word. */
const LARGE = 50 * 1024 * 1024;
/** What the platform takes. */
const TOO_LARGE = 200 * 1024 * 1024;
export const MEBIBYTE = 1024 * 1024;

/** Made anew wherever a project is built, or nobody's business. */
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
  /** How many it holds. */
  files: number;
  path: string;
  bytes: number;
  warnings: string[];
  remove(): Promise<void>;
}

/**
 * A gzipped tar of a project's files: less what `.dockerignore` and `.gitignore` name, less symbolic links, and less the file
 * that its secrets come from, which travel apart from it.
 *
 * @throws CliError when it would be larger than the platform takes, or lack `langgraph.json`
 */
export async function archiveProject(project: Project, signal: AbortSignal): Promise<Archive> {
  const { files, links } = await filesOf(project, signal);
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
    // Portable: no owners and times of this machine, so that the same files give the same archive.
    const options = { gzip: true, portable: true, noDirRecurse: true, follow: false, cwd: project.folder, file: path };
    // A name that begins with @ would stand for an archive whose entries are taken over.
    await create(
      options,
      files.map((file) => (file.startsWith('@') ? `./${file}` : file)),
    );
    signal.throwIfAborted();
    const { size: bytes } = await stat(path);
    if (bytes > TOO_LARGE) throw tooLarge(bytes);
    const warnings = [...warningsAbout(bytes, links), ...(await workspaceWarnings(project.folder))];
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

function warningsAbout(bytes: number, links: string[]): string[] {
  const few = links.slice(0, 3).join(', ');
  return [
    ...(bytes > LARGE ? [`The archive is ${size(bytes)}. ${HINT}`] : []),
    ...(links.length > 0
      ? [`Symbolic links are left out: ${few}${links.length > 3 ? ` and ${links.length - 3} more` : ''}.`]
      : []),
  ];
}

async function workspaceWarnings(folder: string): Promise<string[]> {
  const workspace = await workspaceOf(folder);
  if (workspace === null) return [];
  return [
    `The folder is a member of the workspace ${workspace}, of which nothing else is sent, its lock file neither. A project that needs more of it has its langgraph.json there.`,
  ];
}

/** From the project's folder, with `/`, in a fixed order. */
async function filesOf(project: Project, signal: AbortSignal): Promise<{ files: string[]; links: string[] }> {
  const rules = ignore().add([...(await linesOf(project, '.dockerignore')), ...(await linesOf(project, '.gitignore'))]);
  const found: { files: string[]; links: string[] } = { files: [], links: [] };
  await walk('', { project, rules, found, signal });
  return found;
}

async function linesOf({ folder }: Project, name: string): Promise<string[]> {
  const text = await readFile(join(folder, name), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw new CliError(`${join(folder, name)} cannot be read: ${error.message}`, ExitCode.usage);
  });
  return text.split(/\r?\n/);
}

interface Walk {
  project: Project;
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
    // What lies in a folder that is ignored cannot be taken back by a later rule: so it is with git.
    if (rules.ignores(entry.isDirectory() ? `${path}/` : path)) continue;
    if (entry.isDirectory()) await walk(`${path}/`, { project, rules, found, signal });
    else if (entry.isSymbolicLink()) found.links.push(path);
    else if (entry.isFile()) found.files.push(path);
  }
}
