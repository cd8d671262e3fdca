import { randomUUID } from 'node:crypto';
import { chmod, mkdir, readdir, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { BuildEnd, BuildOrder } from '@runyard/contracts';
import { BuildError } from '@runyard/deployments';
import { ProjectError } from '@runyard/package-managers';
import { removeFolder } from '@runyard/service-kit/remove-folder';
import type { BuildUser, BuildUsers } from '../commands/build-users.ts';
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

/** The folders of a deployment's builds. Builds of different deployments share no folder. */
export interface DeploymentFolders {
  /** The home of its user; removed after each build. */
  home: string;
  /** Packages that its builds have fetched. */
  cache: string;
  /** Package managers. A build writes to it only to fetch one. */
  tools: string;
}

/** Makes what an order asks for: fetches a project, builds it, and sends it where it is wanted. */
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
    const own = ['projects', 'builds', 'build-caches', 'build-tools'].map((kind) =>
      join(folder, kind, order.deployment_id),
    );
    const disk = { folder, minFreeBytes, max: limits.disk, own };
    return withDiskLimits(context.signal, disk, (signal) => this.#build(order, { ...context, signal }));
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

  async #build(order: BuildOrder, context: BuildContext): Promise<BuildEnd> {
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
    const folders = await this.#prepareFolders(order.deployment_id);
    const root = join(this.#options.dataDir, 'projects', order.deployment_id, randomUUID());
    try {
      await mkdir(join(root, '..'), { recursive: true, mode: 0o711 });
      await mkdir(root, { mode: 0o700 });
      await sources.fetch(order.source, root, context);
      const build = new ProjectBuild(order, { root, folders, user, pythons, limits, log });
      const project = await build.run(signal);
      return await results.send(project, order, { log, signal });
    } catch (error) {
      // The cause of a failure says more than the end of the build's time.
      if (!(error instanceof BuildError)) signal.throwIfAborted();
      if (!(error instanceof ProjectError)) throw error;
      throw new BuildError(error.message.replaceAll(`${root}/`, ''), { cause: error });
    } finally {
      await this.#clear(user, root, folders);
    }
  }

  /** Nothing of the build's user runs any more when its files are removed with the rights of this service. */
  async #clear(user: BuildUser | null, root: string, { home }: DeploymentFolders): Promise<void> {
    await user?.clear();
    for (const folder of [join(root, '..'), home]) await removeFolder(folder);
  }

  async #prepareFolders(deploymentId: string): Promise<DeploymentFolders> {
    const folderIn = (name: string) => join(this.#options.dataDir, name, deploymentId);
    const folders = { home: folderIn('builds'), cache: folderIn('build-caches'), tools: folderIn('build-tools') };
    await removeFolder(folders.home);
    for (const folder of [folders.home, folders.cache]) await mkdir(folder, { recursive: true, mode: 0o700 });
    await mkdir(folders.tools, { recursive: true });
    await chmod(folders.tools, 0o755);
    const now = new Date();
    for (const folder of [folders.cache, folders.tools]) await utimes(folder, now, now);
    return folders;
  }
}
