import { chmod, mkdir, rm } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import type { LogLevel } from '@runyard/contracts';
import {
  detectCommandTool,
  detectInstallation,
  fetchTool,
  type PackageTool,
  ProjectError,
} from '@runyard/package-managers';
import { AppError } from '@runyard/service-kit';
import { isStorageOutage } from '../image-registry/registry-unavailable-error.ts';
import type { RevisionLog } from '../logs/revision-log.ts';
import { BuildError } from '../revisions/build-error.ts';
import { type LocalProject, openLocalDirectory } from '../revisions/local-directory.ts';
import { Artifacts, type BuildInput } from './artifacts.ts';
import { runBuildCommand } from './build-command.ts';
import { type BuildFolders, buildEnvironment, withPath } from './build-environment.ts';
import type { BuildSource } from './build-source.ts';
import type { BuildUser, BuildUsers } from './build-users.ts';
import { inspectProject } from './inspect-project.ts';

export interface BuildOrder {
  input: BuildInput;
  source: BuildSource;
  secrets: Record<string, string>;
  log: Pick<RevisionLog, 'write'>;
  signal: AbortSignal;
}

/** Makes a runnable folder from a source: fetches its code, installs its packages and runs its build command. */
export class Builder {
  readonly #artifacts: Artifacts;
  readonly #dataDir: string;
  readonly #users: BuildUsers | null;

  /** @param users the users that run commands; null: this service's user */
  constructor(artifacts: Artifacts, dataDir: string, users: BuildUsers | null) {
    this.#artifacts = artifacts;
    this.#dataDir = dataDir;
    this.#users = users;
  }

  /**
   * @throws BuildError when the source is at fault; ObjectStorageUnavailableError when the storage that holds the
   * source is unavailable; the signal's reason when the signal aborts
   */
  async build(order: BuildOrder): Promise<LocalProject> {
    const { deploymentId } = order.input;
    const name = Artifacts.nameOf(order.input);
    const user = this.#users?.userOf(deploymentId) ?? null;
    // An attempt of a killed service may have left some.
    await user?.endProcesses();
    const folder = await this.#artifacts.begin(name);
    const folders = this.#foldersOf(deploymentId);
    try {
      await rm(folders.home, { recursive: true, force: true });
      const build = new Build(order, folder, folders, user);
      const project = await build.run();
      await this.#artifacts.complete(name, folder);
      return project;
    } catch (error) {
      await this.#artifacts.discard(name);
      // The cause of a failure says more than the end of the build's time.
      if (!(error instanceof BuildError)) order.signal.throwIfAborted();
      if (isStorageOutage(error)) throw error;
      if (error instanceof AppError) throw new BuildError(error.message, { cause: error });
      if (error instanceof ProjectError) {
        throw new BuildError(error.message.replaceAll(`${folder}/`, ''), { cause: error });
      }
      throw error;
    } finally {
      await rm(folders.home, { recursive: true, force: true });
    }
  }

  /** Removes all that builds of the deployment made. */
  async remove(deploymentId: string): Promise<void> {
    await this.#users?.userOf(deploymentId).endProcesses();
    await this.#artifacts.remove(deploymentId);
    for (const folder of Object.values(this.#foldersOf(deploymentId)))
      await rm(folder, { recursive: true, force: true });
  }

  /** Builds of different deployments share no folder. */
  #foldersOf(deploymentId: string): Folders {
    const folderIn = (name: string) => join(this.#dataDir, name, deploymentId);
    return { home: folderIn('builds'), cache: folderIn('build-caches'), tools: folderIn('build-tools') };
  }
}

interface Folders extends BuildFolders {
  /** Holds package managers. A build writes to it only to fetch one. */
  tools: string;
}

/** One build in progress. */
class Build {
  readonly #order: BuildOrder;
  readonly #root: string;
  readonly #folders: Folders;
  readonly #user: BuildUser | null;
  /** Folders with programs, by the name of the package manager. */
  readonly #tools = new Map<string, string>();
  #environment: Record<string, string> = {};

  constructor(order: BuildOrder, root: string, folders: Folders, user: BuildUser | null) {
    this.#order = order;
    this.#root = root;
    this.#folders = folders;
    this.#user = user;
  }

  async run(): Promise<LocalProject> {
    const { source, signal, secrets, input } = this.#order;
    await mkdir(this.#root, { recursive: true });
    await source.fetch(this.#root, { signal, say: (line) => this.#say(line) });
    signal.throwIfAborted();
    const project = await this.#openProject();
    this.#environment = await buildEnvironment(this.#folders, secrets);
    await this.#user?.give(this.#root, this.#folders.home, this.#folders.cache);
    await this.#install(dirname(project.configPath));
    if (input.buildCommand !== null) await this.#runOwn(input.buildCommand, dirname(project.configPath));
    // The project's build command may have changed the files that the project was read from.
    const built = await this.#openProject();
    this.#say('Loading the graphs');
    const graphs = await inspectProject(built, secrets, {
      signal,
      user: this.#user,
      home: this.#folders.home,
      onLog: ({ level, message }) => this.#write(message, level === 'warn' ? 'WARNING' : toLevel(level)),
    }).finally(() => this.#user?.endProcesses());
    await this.#user?.takeBack(this.#root);
    // The driver lets the user of the deployment in when it starts.
    await chmod(this.#root, 0o700);
    this.#say(`Built with ${graphs.length === 1 ? 'the graph' : 'the graphs'} ${graphs.join(', ')}`);
    return built;
  }

  async #openProject(): Promise<LocalProject> {
    const { configPath } = this.#order.input;
    if (relative(this.#root, resolve(this.#root, configPath)).startsWith('..')) {
      throw new BuildError(`${configPath} leads out of the source`);
    }
    try {
      return await openLocalDirectory(
        { project_path: this.#root, langgraph_config_path: configPath },
        { isBuilt: true },
      );
    } catch (error) {
      if (error instanceof AppError)
        throw new BuildError(error.message.replaceAll(`${this.#root}/`, ''), { cause: error });
      throw error;
    }
  }

  async #install(projectFolder: string): Promise<void> {
    const { installCommand } = this.#order.input;
    if (installCommand !== null) return this.#runOwn(installCommand, this.#root);
    const installation = await detectInstallation(this.#root, projectFolder);
    if (!installation) {
      this.#say('There is no package.json: nothing is installed');
      return;
    }
    if (installation.tool) await this.#useTool(installation.tool);
    await this.#command(installation.command, installation.folder);
  }

  /** Runs a command of the project's author with the package manager that the command begins with. */
  async #runOwn(command: string, folder: string): Promise<void> {
    const tool = await detectCommandTool(command, folder);
    // A package manager that installed the packages also runs the build command.
    if (tool && !this.#tools.has(tool.name)) await this.#useTool(tool);
    await this.#command(command, folder);
  }

  async #useTool(tool: PackageTool): Promise<void> {
    const programs = await fetchTool(tool, this.#folders.tools, async (command, cwd) => {
      this.#say(`Fetching ${tool.package}`);
      await this.#user?.give(cwd);
      await this.#command(command, cwd);
      await this.#user?.takeBack(cwd);
    });
    this.#tools.set(tool.name, programs);
  }

  async #command(command: string, cwd: string): Promise<void> {
    const where = relative(this.#root, cwd);
    this.#say(where === '' || where.startsWith('..') ? `$ ${command}` : `$ ${command}  (in ${where})`);
    await runBuildCommand({
      command,
      cwd,
      env: withPath(this.#environment, [...this.#tools.values()]),
      user: this.#user,
      signal: this.#order.signal,
      // Package managers write their progress to stderr, so lines from there are no errors.
      onLine: (line) => this.#write(line, 'INFO'),
    });
  }

  #say(line: string): void {
    this.#write(line, 'INFO');
  }

  #write(line: string, level: LogLevel): void {
    this.#order.log.write(line, { level, source: 'build' });
  }
}

function toLevel(level: 'debug' | 'info' | 'error'): LogLevel {
  return level === 'debug' ? 'DEBUG' : level === 'info' ? 'INFO' : 'ERROR';
}
