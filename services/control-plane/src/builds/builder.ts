import { chmod, mkdir, rm } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import type { LogLevel } from '@runyard/contracts';
import { Artifacts, BuildError, type BuildInput, type LocalProject, openLocalDirectory } from '@runyard/deployments';
import { ProjectError } from '@runyard/package-managers';
import { readProject } from '@runyard/project';
import type { RevisionLog } from '@runyard/revision-logs';
import { AppError } from '@runyard/service-kit';
import { isStorageOutage } from '../image-registry/registry-unavailable-error.ts';
import { BuildCommands } from './build-commands.ts';
import { type BuildFolders, buildEnvironment } from './build-environment.ts';
import type { BuildSource } from './build-source.ts';
import type { BuildUser, BuildUsers } from './build-users.ts';
import { inspectProject } from './inspect-project.ts';
import { JavaScriptPackages } from './javascript-packages.ts';
import { PythonPackages } from './python-packages.ts';

export interface BuildOrder {
  input: BuildInput;
  source: BuildSource;
  secrets: Record<string, string>;
  log: Pick<RevisionLog, 'write'>;
  signal: AbortSignal;
}

export interface BuilderOptions {
  dataDir: string;
  /** The users that run install and build commands; null: this service's user. */
  users: BuildUsers | null;
  /** Pythons that projects may get beside those on the PATH: absolute paths. */
  pythons: readonly string[];
}

/** Makes a runnable folder from a source: fetches its code, installs its packages and runs its build command. */
export class Builder {
  readonly #artifacts: Artifacts;
  readonly #dataDir: string;
  readonly #users: BuildUsers | null;
  readonly #pythons: readonly string[];

  constructor(artifacts: Artifacts, { dataDir, users, pythons }: BuilderOptions) {
    this.#artifacts = artifacts;
    this.#dataDir = dataDir;
    this.#users = users;
    this.#pythons = pythons;
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
      const build = new Build(order, folder, folders, { user, pythons: this.#pythons });
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

interface BuildMachine {
  user: BuildUser | null;
  pythons: readonly string[];
}

/** One build in progress. */
class Build {
  readonly #order: BuildOrder;
  readonly #root: string;
  readonly #folders: Folders;
  readonly #user: BuildUser | null;
  readonly #pythons: readonly string[];

  constructor(order: BuildOrder, root: string, folders: Folders, { user, pythons }: BuildMachine) {
    this.#order = order;
    this.#root = root;
    this.#folders = folders;
    this.#user = user;
    this.#pythons = pythons;
  }

  async run(): Promise<LocalProject> {
    const { source, signal, secrets, input, log } = this.#order;
    await mkdir(this.#root, { recursive: true });
    await source.fetch(this.#root, { signal, say: (line) => this.#write(line) });
    signal.throwIfAborted();
    const project = await this.#openProject();
    const environment = await buildEnvironment(this.#folders, secrets);
    await this.#user?.give(this.#root, this.#folders.home, this.#folders.cache);
    const commands = new BuildCommands({
      root: this.#root,
      folders: this.#folders,
      environment,
      user: this.#user,
      log,
      signal,
    });
    const packages = new JavaScriptPackages(commands, this.#folders.tools);
    await this.#install(project, commands, packages, environment.PATH ?? '');
    if (input.buildCommand !== null) await packages.runOwn(input.buildCommand, dirname(project.configPath));
    // The project's build command may have changed the files that the project was read from.
    const built = await this.#openProject();
    this.#write('Loading the graphs');
    const graphs = await inspectProject(built, secrets, {
      signal,
      user: this.#user,
      home: this.#folders.home,
      onLog: ({ level, message }) => this.#write(message, level === 'warn' ? 'WARNING' : toLevel(level)),
    }).finally(() => this.#user?.endProcesses());
    await this.#user?.takeBack(this.#root);
    // The driver lets the user of the deployment in when it starts.
    await chmod(this.#root, 0o700);
    this.#write(`Built with ${graphs.length === 1 ? 'the graph' : 'the graphs'} ${graphs.join(', ')}`);
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

  async #install(
    { configPath, directory: root }: LocalProject,
    commands: BuildCommands,
    packages: JavaScriptPackages,
    path: string,
  ): Promise<void> {
    const { installCommand } = this.#order.input;
    const { directory, python: settings, ui } = await readProject(root, configPath);
    if (settings !== null) {
      const { tools: toolsFolder } = this.#folders;
      const options = { commands, settings, root, directory, toolsFolder, pythons: this.#pythons, path };
      await new PythonPackages(options).install(installCommand);
      // Its components are in JavaScript, and so are their packages.
      if (ui !== null && installCommand === null) await packages.install(root, directory);
    } else if (installCommand !== null) {
      await packages.runOwn(installCommand, root);
    } else {
      await packages.install(root, directory);
    }
  }

  #write(line: string, level: LogLevel = 'INFO'): void {
    this.#order.log.write(line, { level, source: 'build' });
  }
}

function toLevel(level: 'debug' | 'info' | 'error'): LogLevel {
  return level === 'debug' ? 'DEBUG' : level === 'info' ? 'INFO' : 'ERROR';
}
