import { access, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { type Agent, detect, resolveCommand } from 'package-manager-detector';
import { BuildFailure } from './build-failure.ts';
import { lockOf, type PackageAgent, type PackageTool, toolOf } from './package-tools.ts';

/** What installs the packages of a project, and where. */
export interface Installation {
  /** Null: npm, which comes with Node.js. */
  tool: PackageTool | null;
  folder: string;
  command: string;
}

const AGENTS: ReadonlySet<Agent> = new Set<PackageAgent>(['npm', 'pnpm', 'yarn', 'yarn@berry', 'bun']);

/**
 * How the packages of a project are installed: by the package manager of the nearest lock file, at or above the folder of its
 * configuration, else by the one that a `packageManager` field names, else by npm. Null when there is no `package.json`.
 */
export async function detectInstallation(root: string, projectFolder: string): Promise<Installation | null> {
  const folders = foldersBetween(projectFolder, root);
  for (const folder of folders) {
    const found = await detect({ cwd: folder, stopDir: folder, strategies: ['lockfile'] });
    if (found) return installation(folder, found.agent);
  }
  const folder = await installRoot(folders);
  if (folder === null) return null;
  const named = await detect({
    cwd: folder,
    stopDir: folder,
    strategies: ['packageManager-field', 'devEngines-field'],
  });
  return installation(folder, named?.agent ?? 'npm');
}

/** The package manager that a command of the project's author begins with, if it is one that has to be fetched. */
export async function toolOfCommand(command: string, folder: string): Promise<PackageTool | null> {
  const [, name] = /^\s*(?:\w+=\S*\s+)*(pnpm|pnpx|yarn|bun|bunx)\b/.exec(command) ?? [];
  if (name === undefined) return null;
  const agent = name.startsWith('pnp') ? 'pnpm' : name === 'yarn' ? 'yarn' : 'bun';
  return toolOf(agent, await packageManagerField(folder), await lockOf(folder, agent));
}

async function installation(folder: string, agent: Agent): Promise<Installation> {
  if (!AGENTS.has(agent)) {
    throw new BuildFailure(`Projects of ${agent} cannot be built here: npm, pnpm, yarn and bun install packages`);
  }
  const lock = await lockOf(folder, agent as PackageAgent);
  const tool = toolOf(agent as PackageAgent, await packageManagerField(folder), lock);
  const resolved = resolveCommand(tool?.agent ?? 'npm', lock ? 'frozen' : 'install', []);
  if (!resolved) throw new BuildFailure(`Packages cannot be installed with ${agent}`);
  const quiet = tool === null ? ['--no-audit', '--no-fund'] : [];
  return { tool, folder, command: [resolved.command, ...resolved.args, ...quiet].join(' ') };
}

async function packageManagerField(folder: string): Promise<unknown> {
  return (await readManifest(folder))?.packageManager;
}

/** The folder and those above it, up to the root. */
function foldersBetween(folder: string, root: string): string[] {
  const folders = [folder];
  for (let at = folder; relative(root, at) !== ''; folders.push(at)) at = dirname(at);
  return folders;
}

/** Without a lock file: the root of a workspace, else the nearest folder that is a package. */
async function installRoot(folders: string[]): Promise<string | null> {
  let nearest: string | null = null;
  for (const folder of folders) {
    const manifest = await readManifest(folder);
    if (manifest?.workspaces !== undefined || (await exists(join(folder, 'pnpm-workspace.yaml')))) return folder;
    if (manifest) nearest ??= folder;
  }
  return nearest;
}

interface Manifest {
  workspaces?: unknown;
  packageManager?: unknown;
}

async function readManifest(folder: string): Promise<Manifest | null> {
  const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => null);
  if (text === null) return null;
  try {
    return (JSON.parse(text) ?? {}) as Manifest;
  } catch (cause) {
    throw new BuildFailure(`package.json is not valid JSON: ${(cause as Error).message}`, { cause });
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
