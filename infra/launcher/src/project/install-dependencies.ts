import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join, parse } from 'node:path';
import { InfrastructureError, lastLines, type Supervisor } from '@runyard/local-infra';
import {
  detectInstallation,
  fetchTool,
  type Installation,
  ProjectError,
  toolEnvironment,
} from '@runyard/package-managers';
import type { Progress } from '../progress.ts';
import type { ProjectFolder } from './read-project.ts';

/** Milliseconds in which a package manager may end by itself. */
const STOP_MS = 5_000;

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

/** The supervisor ends the package manager with everything else, whatever fails meanwhile. */
interface InstallOptions {
  supervisor: Supervisor;
  progress: Progress;
  stopping: AbortSignal;
}

export async function installProjectDependencies(project: ProjectFolder, options: InstallOptions): Promise<void> {
  const installation = await findMissingInstallation(project.folder);
  if (!installation) return;
  const { command, folder } = installation;
  const where = folder === project.folder ? '' : ` (in ${folder})`;
  const installing = install(installation, project, options);
  options.progress.step(`Installing the dependencies of ${project.name}: ${command}${where}`, installing);
  await installing;
}

async function install(
  { tool, command, folder }: Installation,
  project: ProjectFolder,
  options: InstallOptions,
): Promise<void> {
  const run = (line: string, cwd: string, env: Record<string, string> = {}) =>
    runToItsEnd(line, { ...options, cwd, env, failed: `The dependencies of ${project.folder} could not be installed` });
  const cache = join(options.supervisor.dataDir, 'package-managers');
  const programs = tool ? [await fetchTool(tool, cache, run)] : [];
  const path = [...programs, process.env.PATH ?? ''].join(delimiter);
  await run(command, folder, { PATH: path, ...toolEnvironment(tool) });
}

async function runToItsEnd(
  command: string,
  options: InstallOptions & { cwd: string; env: Record<string, string>; failed: string },
): Promise<void> {
  const { supervisor, cwd, env, stopping, failed } = options;
  stopping.throwIfAborted();
  const logFile = join(supervisor.dataDir, 'install.log');
  // The log of an earlier start would be taken for the reason of this one.
  await writeFile(logFile, '');
  const running = await supervisor.start({
    name: 'The package manager',
    command: '/bin/sh',
    args: ['-c', command],
    cwd,
    // `npm start --silent` silences npm itself, not the reason why an install fails.
    env: { ...process.env, npm_config_loglevel: undefined, ...env },
    logFile,
    stopsGroup: true,
  });
  const stop = () => void running.stop(STOP_MS);
  stopping.addEventListener('abort', stop, { once: true });
  const { code, signal } = await running.exited;
  stopping.removeEventListener('abort', stop);
  stopping.throwIfAborted();
  if (code === 0) return;
  throw new InfrastructureError(`${failed} (${command}: ${signal ?? code}):\n${await lastLines(logFile, 15)}`);
}

/** Returns whether a package is found from a folder the way Node looks for it; workspaces keep theirs further up. */
function isResolvable(name: string, folder: string): boolean {
  for (let parent = folder; ; parent = dirname(parent)) {
    if (existsSync(join(parent, 'node_modules', name, 'package.json'))) return true;
    if (parent === dirname(parent)) return false;
  }
}
