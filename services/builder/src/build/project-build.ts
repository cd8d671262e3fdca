import { chmod } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import type { BuildOrder, LogLevel } from '@runyard/contracts';
import { withWatcher } from '@runyard/deadline';
import { BuildError, type LocalProject, openLocalDirectory } from '@runyard/deployments';
import { AppError } from '@runyard/service-kit';
import { BuildCommands } from '../commands/build-commands.ts';
import { buildEnvironment } from '../commands/build-environment.ts';
import type { BuildUser } from '../commands/build-users.ts';
import { ProcessWatch } from '../commands/process-watch.ts';
import { inspectProject } from '../graphs/inspect-project.ts';
import { installProject } from '../install/install-project.ts';
import { JavaScriptPackages } from '../install/javascript-packages.ts';
import type { BuildLog } from '../jobs/build-log.ts';
import type { BuildFolders, BuildLimits } from './builder.ts';

export interface ProjectBuildOptions {
  /** With the fetched source in `root`. */
  folders: BuildFolders;
  user: BuildUser | null;
  pythons: readonly string[];
  limits: BuildLimits;
  log: BuildLog;
}

/** Makes a runnable folder of a fetched source: installs its packages, runs its build command and loads its graphs. */
export class ProjectBuild {
  readonly #order: BuildOrder;
  readonly #options: ProjectBuildOptions;

  constructor(order: BuildOrder, options: ProjectBuildOptions) {
    this.#order = order;
    this.#options = options;
  }

  /** @throws BuildError or ProjectError when the source is at fault */
  async run(outer: AbortSignal): Promise<LocalProject> {
    const { limits, user } = this.#options;
    let processes: ProcessWatch | undefined;
    const watch = (end: (error: BuildError) => void) => {
      processes = new ProcessWatch(limits, user?.uid ?? null, end);
      return () => processes?.stop();
    };
    return withWatcher(outer, watch, async (signal) => {
      const onSpawn = (pid: number) => void processes?.add(pid);
      try {
        return await this.#run(signal, onSpawn);
      } catch (error) {
        // The limit that was exceeded says more than the signal that ended the process.
        if (signal.reason instanceof BuildError) throw signal.reason;
        throw error;
      }
    });
  }

  async #run(signal: AbortSignal, onSpawn: (pid: number) => void): Promise<LocalProject> {
    const { folders, user, log, limits } = this.#options;
    const { root } = folders;
    const { variables, build_command: buildCommand, install_command: installCommand } = this.#order;
    signal.throwIfAborted();
    const project = await this.#openProject();
    const environment = await buildEnvironment(folders, variables);
    await user?.give(root, folders.home, folders.cache);
    const kernelLimits = { fileBytes: limits.disk.bytes, processes: user === null ? null : limits.processes };
    const commands = new BuildCommands({
      ...{ root, folders, environment, user, log, signal, onSpawn },
      limits: kernelLimits,
    });
    const packages = new JavaScriptPackages(commands, folders.tools);
    await installProject({
      ...{ root, configPath: project.configPath, commands, packages, toolsFolder: folders.tools },
      ...{ pythons: this.#options.pythons, path: environment.PATH ?? '', installCommand },
    });
    if (buildCommand !== null) await packages.runOwn(buildCommand, dirname(project.configPath));
    // The project's build command may have changed the files that the project was read from.
    const built = await this.#openProject();
    this.#write('Loading the graphs');
    const graphs = await inspectProject(built, variables, {
      signal,
      user,
      home: folders.home,
      limits: kernelLimits,
      onSpawn,
      onLog: ({ level, message }) => this.#write(message, level === 'warn' ? 'WARNING' : toLevel(level)),
    }).finally(() => user?.endProcesses());
    await user?.takeBack(root);
    // It is packed with the rights of this service, and belongs to nobody else from now on.
    await chmod(root, 0o700);
    this.#write(`Built with ${graphs.length === 1 ? 'the graph' : 'the graphs'} ${graphs.join(', ')}`);
    return built;
  }

  async #openProject(): Promise<LocalProject> {
    const { root } = this.#options.folders;
    const { langgraph_config_path: configPath } = this.#order;
    if (relative(root, resolve(root, configPath)).startsWith('..')) {
      throw new BuildError(`${configPath} leads out of the source`);
    }
    try {
      return await openLocalDirectory({ project_path: root, langgraph_config_path: configPath }, { isBuilt: true });
    } catch (error) {
      if (error instanceof AppError) throw new BuildError(error.message.replaceAll(`${root}/`, ''), { cause: error });
      throw error;
    }
  }

  #write(line: string, level: LogLevel = 'INFO'): void {
    this.#options.log.write(line, { level, source: 'build' });
  }
}

function toLevel(level: 'debug' | 'info' | 'error'): LogLevel {
  return level === 'debug' ? 'DEBUG' : level === 'info' ? 'INFO' : 'ERROR';
}
