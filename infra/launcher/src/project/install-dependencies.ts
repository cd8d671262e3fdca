import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { InfrastructureError } from '@runyard/local-infra';
import type { Progress } from '../progress.ts';
import type { Project } from './read-project.ts';

/** By lockfile: the package manager the project's author uses, told to install exactly what the lockfile says. */
const installers: { lockfile: string; command: string[] }[] = [
  { lockfile: 'pnpm-lock.yaml', command: ['npx', '--yes', 'pnpm', 'install', '--frozen-lockfile'] },
  { lockfile: 'yarn.lock', command: ['npx', '--yes', 'yarn', 'install', '--frozen-lockfile'] },
  { lockfile: 'bun.lock', command: ['bun', 'install', '--frozen-lockfile'] },
  { lockfile: 'package-lock.json', command: ['npm', 'ci', '--no-audit', '--no-fund'] },
];
const withoutLockfile = ['npm', 'install', '--no-audit', '--no-fund'];

/** The command that installs a project's dependencies, or null when all of them are there. */
export async function installCommand(folder: string): Promise<string[] | null> {
  const manifest = await readFile(join(folder, 'package.json'), 'utf8').catch(() => '{}');
  const dependencies = Object.keys((JSON.parse(manifest) as { dependencies?: object }).dependencies ?? {});
  if (dependencies.every((name) => resolves(name, folder))) return null;
  return installers.find(({ lockfile }) => existsSync(join(folder, lockfile)))?.command ?? withoutLockfile;
}

export async function installProjectDependencies(
  project: Project,
  progress: Progress,
  stopping: AbortSignal,
): Promise<void> {
  const command = await installCommand(project.folder);
  if (!command) return;
  progress.step(`Installing the dependencies of ${project.name}: ${command.join(' ')}`);
  const [program = '', ...args] = command;
  // In a process group of its own, so that what npm starts ends with it.
  const child = spawn(program, args, {
    cwd: project.folder,
    // `npm start --silent` silences npm itself, not the reason why an install fails.
    env: { ...process.env, npm_config_loglevel: undefined },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const stop = () => child.pid && process.kill(-child.pid, 'SIGTERM');
  stopping.addEventListener('abort', stop, { once: true });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const [code] = await once(child, 'close').catch((error) => [error.message]);
  stopping.removeEventListener('abort', stop);
  stopping.throwIfAborted();
  if (code === 0) return;
  const end = output.trimEnd().split('\n').slice(-15).join('\n');
  throw new InfrastructureError(
    `The dependencies of ${project.folder} could not be installed (${command.join(' ')}: ${code}):\n${end}`,
  );
}

/** Whether a package is found from a folder the way Node looks for it; workspaces keep theirs further up. */
function resolves(name: string, folder: string): boolean {
  for (let parent = folder; ; parent = dirname(parent)) {
    if (existsSync(join(parent, 'node_modules', name, 'package.json'))) return true;
    if (parent === dirname(parent)) return false;
  }
}
