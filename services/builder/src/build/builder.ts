import { randomUUID } from 'node:crypto';
import { chmod, mkdir, readdir, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { BuildEnd, BuildOrder } from '@runyard/contracts';
import { BuildError } from '@runyard/deployments';
import { ProjectError } from '@runyard/package-managers';
import { removeFolder } from '@runyard/service-kit/remove-folder';
import type { BuildUsers } from '../commands/build-users.ts';
import { type DiskUse, withDiskLimits } from '../commands/disk-limits.ts';
import type { ProcessLimits } from '../commands/process-watch.ts';
import type { ProjectSources } from '../fetch/project-sources.ts';
import type { BuildLog } from '../jobs/build-log.ts';
import type { ProjectResults } from '../results/project-results.ts';
import { ProjectBuild } from './project-build.ts';

export interface BuildLimits extends ProcessLimits {
  disk: DiskUse;
}

export interface BuilderOptions {
  dataDir: string;
  /** The users that run install and build commands; null: this service's user. */
  users: BuildUsers | null;
  /** Pythons that projects may get beside those on the PATH: absolute paths. */
  pythons: readonly string[];
  /** Free bytes of the disk with `dataDir` below which builds are ended. */
  minFreeBytes: number;
  /** Bounds each build. */
  limits: BuildLimits;
  sources: ProjectSources;
  results: ProjectResults;
}

export interface BuildContext {
  log: BuildLog;
  signal: AbortSignal;
  onCommit(commit: string): void;
}

export interface BuildFolders {
  /** The project; no other build has it. */
  root: string;
  /** The home of the user while this build runs. */
  home: string;
  /** Packages that builds of the deployment have fetched. */
  cache: string;
  /** Package managers of the deployment's builds. A build writes to it only to fetch one. */
  tools: string;
}

/**
 * Makes what an order asks for: fetches a project, builds it, and sends it where it is wanted. Builds of one deployment
 * have the same user, whose processes end with each: they must follow each other.
 */
export class Builder {
  readonly #options: BuilderOptions;

  constructor(options: BuilderOptions) {
    this.#options = options;
  }

  /**
   * @throws BuildError when the source is at fault; ControlPlaneUnavailableError or RegistryUnavailableError; the
   * signal's reason when the signal aborts
   */
  async build(order: BuildOrder, context: BuildContext): Promise<BuildEnd> {
    const { dataDir: folder, minFreeBytes, limits } = this.#options;
    const folders = this.#foldersOf(order.deployment_id);
    const disk = { folder, minFreeBytes, max: limits.disk, own: Object.values(folders) };
    return withDiskLimits(context.signal, disk, (signal) => this.#build(order, folders, { ...context, signal }));
  }

  /** Removes what builds of a killed process left, and the caches of deployments that are not built any more. */
  async sweep(cacheMs: number): Promise<void> {
    for (const kind of ['build-caches', 'build-tools']) {
      for (const id of await readdir(join(this.#options.dataDir, kind)).catch(() => [])) {
        const folder = join(this.#options.dataDir, kind, id);
        const { mtimeMs } = await stat(folder);
        if (Date.now() - mtimeMs > cacheMs) await removeFolder(folder);
      }
    }
  }

  /** Removes what builds of a killed process left. It must not be called while something is built. */
  async removeAbandoned(): Promise<void> {
    for (const kind of ['projects', 'builds', 'git'])
      for (const name of await readdir(join(this.#options.dataDir, kind)).catch(() => []))
        await removeFolder(join(this.#options.dataDir, kind, name));
  }

  async #build(order: BuildOrder, folders: BuildFolders, context: BuildContext): Promise<BuildEnd> {
    const { sources, results, pythons, limits } = this.#options;
    const { log, signal } = context;
    results.check(order.result);
    if (order.source.kind === 'folder') {
      const project = await sources.openFolder(order.source.path, order.langgraph_config_path);
      return results.send(project, order, { log, signal });
    }
    const user = this.#options.users?.userOf(order.deployment_id) ?? null;
    // An attempt of a killed service may have left something.
    await user?.clear();
    try {
      await prepareFolders(folders);
      await sources.fetch(order.source, folders.root, context);
      const project = await new ProjectBuild(order, { folders, user, pythons, limits, log }).run(signal);
      return await results.send(project, order, { log, signal });
    } catch (error) {
      // The cause of a failure says more than the end of the build's time.
      if (!(error instanceof BuildError)) signal.throwIfAborted();
      if (!(error instanceof ProjectError)) throw error;
      throw new BuildError(error.message.replaceAll(`${folders.root}/`, ''), { cause: error });
    } finally {
      // Nothing of the user runs any more when its files are removed with the rights of this service.
      await user?.clear();
      for (const folder of [folders.root, folders.home]) await removeFolder(folder);
    }
  }

  #foldersOf(deploymentId: string): BuildFolders {
    const folderIn = (kind: string, name: string) => join(this.#options.dataDir, kind, name);
    const build = randomUUID();
    return {
      root: folderIn('projects', build),
      home: folderIn('builds', build),
      cache: folderIn('build-caches', deploymentId),
      tools: folderIn('build-tools', deploymentId),
    };
  }
}

async function prepareFolders({ root, home, cache, tools }: BuildFolders): Promise<void> {
  for (const folder of [root, home, cache]) await mkdir(folder, { recursive: true, mode: 0o700 });
  await mkdir(tools, { recursive: true });
  await chmod(tools, 0o755);
  const now = new Date();
  for (const folder of [cache, tools]) await utimes(folder, now, now);
}
