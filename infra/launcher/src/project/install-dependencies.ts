import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { delimiter, dirname, join, parse } from 'node:path';
import { InfrastructureError } from '@runyard/local-infra';
import {
  detectInstallation,
  fetchTool,
  type Installation,
  ProjectError,
  toolEnvironment,
} from '@runyard/package-managers';
import type { Progress } from '../progress.ts';
import type { Project } from './read-project.ts';

/** Returns how to install a project's dependencies, or null when all of them are there. @throws InfrastructureError */
export async function findMissingInstallation(folder: string): Promise<Installation | null> {
  const manifest = await readFile(join(folder, 'package.json'), 'utf8').catch(() => '{}');
  try {
    const dependencies = Object.keys((JSON.parse(manifest) as { dependencies?: object }).dependencies ?? {});
    if (dependencies.every((name) => isResolvable(name, folder))) return null;
    return await detectInstallation(parse(folder).root, folder);
  } catch (error) {
    if (error instanceof ProjectError) throw new InfrastructureError(error.message);
    if (error instanceof SyntaxError) {
      throw new InfrastructureError(`${join(folder, 'package.json')} is not valid JSON: ${error.message}`);
    }
    throw error;
  }
}

/** @param cache folder for downloaded package managers */
export async function installProjectDependencies(
  project: Project,
  { cache, progress, stopping }: { cache: string; progress: Progress; stopping: AbortSignal },
): Promise<void> {
  const installation = await findMissingInstallation(project.folder);
  if (!installation) return;
  const { tool, command, folder } = installation;
  const where = folder === project.folder ? '' : ` (in ${folder})`;
  progress.step(`Installing the dependencies of ${project.name}: ${command}${where}`);
  const run = (line: string, cwd: string, env: Record<string, string> = {}) =>
    runToItsEnd(line, { cwd, env, stopping, failed: `The dependencies of ${project.folder} could not be installed` });
  const programs = tool ? [await fetchTool(tool, cache, run)] : [];
  const path = [...programs, process.env.PATH ?? ''].join(delimiter);
  await run(command, folder, { PATH: path, ...toolEnvironment(tool) });
}

async function runToItsEnd(
  command: string,
  options: { cwd: string; env: Record<string, string>; stopping: AbortSignal; failed: string },
): Promise<void> {
  const { cwd, env, stopping, failed } = options;
  stopping.throwIfAborted();
  // A process group of its own makes everything that npm starts end with it.
  const child = spawn(command, {
    cwd,
    // `npm start --silent` silences npm itself, not the reason why an install fails.
    env: { ...process.env, npm_config_loglevel: undefined, ...env },
    shell: true,
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
  throw new InfrastructureError(`${failed} (${command}: ${code}):\n${end}`);
}

/** Returns whether a package is found from a folder the way Node looks for it; workspaces keep theirs further up. */
function isResolvable(name: string, folder: string): boolean {
  for (let parent = folder; ; parent = dirname(parent)) {
    if (existsSync(join(parent, 'node_modules', name, 'package.json'))) return true;
    if (parent === dirname(parent)) return false;
  }
}
