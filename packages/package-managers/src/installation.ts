import { dirname, relative } from 'node:path';
import { type Agent, detect, resolveCommand } from 'package-manager-detector';
import { declaresPackages, type Manifest, readManifest } from './manifest.ts';
import { chooseTool, type PackageAgent, type PackageTool, readLockFile } from './package-tools.ts';
import { ProjectError } from './project-error.ts';
import { isWorkspaceMember } from './workspaces.ts';

/** The installation of a project's packages. */
export interface Installation {
  /** Null for npm, which comes with Node.js. */
  tool: PackageTool | null;
  folder: string;
  /** The shell command. */
  command: string;
}

const AGENTS: ReadonlySet<Agent> = new Set<PackageAgent>(['npm', 'pnpm', 'yarn', 'yarn@berry', 'bun']);
/** Package managers with lock files of different names. */
const LOCKING = ['npm', 'pnpm', 'yarn', 'bun'] as const;

/**
 * Decides how the packages of a project are installed: by the package manager of the nearest lock file, else by the one
 * that a `packageManager` or `devEngines` field names, else by npm. A folder above the project counts when the project
 * is a member of its workspace, or names no packages itself. Null when there is no `package.json`.
 *
 * @param root the highest folder to look at
 * @throws ProjectError
 */
export async function detectInstallation(root: string, projectFolder: string): Promise<Installation | null> {
  const folders = foldersBetween(projectFolder, root);
  const owner = await findOwner(folders);
  for (const folder of folders) {
    if (!(await installsOwner(folder, owner))) continue;
    const agent = await detectLockingAgent(folder);
    if (agent) return createInstallation(folder, agent);
  }
  if (owner === null) return null;
  const folder = await findInstallRoot(owner.folder, folders);
  const named = await detect({
    cwd: folder,
    stopDir: folder,
    strategies: ['packageManager-field', 'devEngines-field'],
  });
  return createInstallation(folder, named?.agent ?? 'npm');
}

/**
 * Returns the package manager with which a command of the project's author begins, if it is one that must be fetched.
 */
export async function detectCommandTool(command: string, folder: string): Promise<PackageTool | null> {
  const [, name] = /^\s*(?:\w+=\S*\s+)*(pnpm|pnpx|yarn|bun|bunx)\b/.exec(command) ?? [];
  if (name === undefined) return null;
  const agent = name.startsWith('pnp') ? 'pnpm' : name === 'yarn' ? 'yarn' : 'bun';
  return chooseTool(agent, await readManifest(folder), await readLockFile(folder, agent));
}

async function createInstallation(folder: string, agent: Agent): Promise<Installation> {
  if (!isSupported(agent)) throw unsupportedAgentError(agent);
  const lock = await readLockFile(folder, agent);
  const tool = chooseTool(agent, await readManifest(folder), lock);
  const resolved = resolveCommand(tool?.agent ?? 'npm', lock ? 'frozen' : 'install', []);
  if (!resolved) throw unsupportedAgentError(agent);
  const quiet = tool === null ? ['--no-audit', '--no-fund'] : [];
  return { tool, folder, command: [resolved.command, ...resolved.args, ...quiet].join(' ') };
}

/**
 * Returns the package manager of a folder with a lock file. When a known and an unknown one lock the folder, the known
 * one wins.
 */
async function detectLockingAgent(folder: string): Promise<Agent | null> {
  const found = await detect({ cwd: folder, stopDir: folder, strategies: ['lockfile'] });
  if (!found || isSupported(found.agent)) return found?.agent ?? null;
  for (const agent of LOCKING) if (await readLockFile(folder, agent)) return agent;
  return found.agent;
}

/** Returns the folder and those above it, up to the root. */
function foldersBetween(folder: string, root: string): string[] {
  const folders = [folder];
  for (let at = folder; relative(root, at) !== ''; folders.push(at)) at = dirname(at);
  return folders;
}

interface Owner {
  folder: string;
  manifest: Manifest;
}

/**
 * Returns the folder and the `package.json` with the project's packages: the nearest that names any, else the nearest.
 */
async function findOwner(folders: string[]): Promise<Owner | null> {
  let nearest: Owner | null = null;
  for (const folder of folders) {
    const manifest = await readManifest(folder);
    if (manifest && declaresPackages(manifest)) return { folder, manifest };
    if (manifest) nearest ??= { folder, manifest };
  }
  return nearest;
}

/** Returns whether installing the folder installs the owner's packages. */
async function installsOwner(folder: string, owner: Owner | null): Promise<boolean> {
  const isAbove = owner !== null && folder !== owner.folder && !relative(folder, owner.folder).startsWith('..');
  return !isAbove || !declaresPackages(owner.manifest) || isWorkspaceMember(folder, owner.folder);
}

/**
 * Returns the folder to install without a lock file: the root of the workspace that the folder is a member of, else the
 * folder.
 */
async function findInstallRoot(owner: string, folders: string[]): Promise<string> {
  for (const folder of folders.slice(folders.indexOf(owner))) if (await isWorkspaceMember(folder, owner)) return folder;
  return owner;
}

function isSupported(agent: Agent): agent is PackageAgent {
  return AGENTS.has(agent);
}

function unsupportedAgentError(agent: Agent): ProjectError {
  return new ProjectError(`Projects of ${agent} cannot be built here: npm, pnpm, yarn and bun install packages`);
}
