import { access, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { type Agent, type AgentName, detect, resolveCommand } from 'package-manager-detector';
import { BuildFailure } from './build-failure.ts';

/** What installs the packages of a project, and where. */
export interface Installation {
  /** Null: npm, which comes with Node.js. */
  tool: PackageTool | null;
  folder: string;
  command: string;
}

/** A package manager as it is had from the registry. */
export interface PackageTool {
  name: AgentName;
  /** What npm installs: `pnpm@10.4.1`. */
  package: string;
}

/** Where a project names a package manager and no version of it; releases that run on every supported Node.js. */
const USUAL_VERSION = { pnpm: '10', yarn: '1', 'yarn@berry': '4', bun: '1' } as const;
const VERSION = /^\d+(\.\d+){0,2}(-[\w.]+)?$/;

/**
 * How the packages of a project are installed: by the package manager of the nearest lock file, at or above the folder of its
 * configuration, else by the one that a `packageManager` field names, else by npm. Null when there is no `package.json`.
 */
export async function detectInstallation(root: string, projectFolder: string): Promise<Installation | null> {
  const folders = foldersBetween(projectFolder, root);
  for (const folder of folders) {
    const found = await detect({ cwd: folder, stopDir: folder, strategies: ['lockfile'] });
    if (found) return installation(folder, found.agent, await versionNamed(folder, found.name), 'frozen');
  }
  const folder = await installRoot(folders);
  if (folder === null) return null;
  const named = await detect({
    cwd: folder,
    stopDir: folder,
    strategies: ['packageManager-field', 'devEngines-field'],
  });
  const { agent, name }: { agent: Agent; name: AgentName } = named ?? { agent: 'npm', name: 'npm' };
  return installation(folder, agent, await versionNamed(folder, name), 'install');
}

/** The package manager that a command of the project's author begins with, if it is one that has to be fetched. */
export async function toolOfCommand(command: string, folder: string): Promise<PackageTool | null> {
  const [, name] = /^\s*(?:\w+=\S*\s+)*(pnpm|pnpx|yarn|bun|bunx)\b/.exec(command) ?? [];
  if (name === undefined) return null;
  const agentName = name.startsWith('pnp') ? 'pnpm' : name === 'yarn' ? 'yarn' : 'bun';
  const found = await detect({ cwd: folder, stopDir: folder });
  return toolOf(found?.name === agentName ? found.agent : agentName, await versionNamed(folder, agentName));
}

function installation(
  folder: string,
  agent: Agent,
  version: string | undefined,
  how: 'frozen' | 'install',
): Installation {
  const resolved = resolveCommand(agent, how, []);
  if (!resolved || agent === 'deno') throw new BuildFailure(`Projects of ${agent} cannot be built here`);
  const quiet = agent === 'npm' ? ['--no-audit', '--no-fund'] : [];
  return { tool: toolOf(agent, version), folder, command: [resolved.command, ...resolved.args, ...quiet].join(' ') };
}

function toolOf(agent: Agent, version: string | undefined): PackageTool | null {
  switch (agent) {
    case 'npm':
      return null;
    case 'yarn@berry':
      // The package `yarn` ends with its first major version.
      return { name: 'yarn', package: `@yarnpkg/cli-dist@${checked(version) ?? USUAL_VERSION['yarn@berry']}` };
    case 'yarn':
      return { name: 'yarn', package: `yarn@${checked(version) ?? USUAL_VERSION.yarn}` };
    case 'bun':
      return { name: 'bun', package: `bun@${checked(version) ?? USUAL_VERSION.bun}` };
    default:
      return { name: 'pnpm', package: `pnpm@${checked(version) ?? USUAL_VERSION.pnpm}` };
  }
}

function checked(version: string | undefined): string | undefined {
  return version !== undefined && VERSION.test(version) ? version : undefined;
}

/** The version that the `packageManager` field names: a lock file says which format it has, not which release wrote it. */
async function versionNamed(folder: string, name: AgentName): Promise<string | undefined> {
  const field = (await readManifest(folder))?.packageManager;
  const [, named, version] = typeof field === 'string' ? (/^(\w+)@([^+]+)/.exec(field) ?? []) : [];
  return named === name ? version : undefined;
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
