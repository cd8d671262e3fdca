import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SourceConfig, SourceRevisionConfig } from '@runyard/contracts';
import { removeFolder } from '@runyard/service-kit/remove-folder';

/** Everything that determines the result of a build. Revisions with equal inputs share one build. */
export interface BuildInput {
  deploymentId: string;
  sourceKey: string;
  configPath: string;
  installCommand: string | null;
  buildCommand: string | null;
}

/** Names a build within all deployments. */
export interface BuildName {
  deploymentId: string;
  /** Comes from `Artifacts.keyOf`. */
  key: string;
}

const RECORD = 'artifact.json';

/**
 * Stores built projects in `DATA_DIR/artifacts/<deployment>/<build>/<attempt>`. The build's record names the attempt
 * that is complete. The artifacts are a cache: a machine that lacks one builds it again from its source.
 */
export class Artifacts {
  readonly #folder: string;

  constructor(dataDir: string) {
    this.#folder = join(dataDir, 'artifacts');
  }

  static inputOf(
    deploymentId: string,
    sourceKey: string,
    source: SourceConfig,
    revision: SourceRevisionConfig,
  ): BuildInput {
    return {
      deploymentId,
      sourceKey,
      configPath: revision.langgraph_config_path ?? 'langgraph.json',
      installCommand: source.install_command ?? null,
      buildCommand: source.build_command ?? null,
    };
  }

  static nameOf(input: BuildInput): BuildName {
    return { deploymentId: input.deploymentId, key: Artifacts.keyOf(input) };
  }

  /** Returns the key of a build, unique within its deployment. */
  static keyOf({ sourceKey, configPath, installCommand, buildCommand }: BuildInput): string {
    const text = JSON.stringify([sourceKey, configPath, installCommand, buildCommand]);
    return createHash('sha256').update(text).digest('hex').slice(0, 32);
  }

  /** Returns the folder of the completed build; null when there is none. */
  async find(name: BuildName): Promise<string | null> {
    const folder = this.#folderOf(name);
    const text = await readFile(join(folder, RECORD), 'utf8').catch(() => null);
    return text === null ? null : join(folder, (JSON.parse(text) as { attempt: string }).attempt);
  }

  /**
   * Creates a folder to build in and removes what earlier attempts left. Their processes cannot write to the new
   * folder.
   */
  async begin(name: BuildName): Promise<string> {
    const folder = this.#folderOf(name);
    await removeFolder(folder);
    const attempt = join(folder, randomUUID());
    // The build may run as another user, who has to be able to traverse this folder.
    await mkdir(folder, { recursive: true, mode: 0o711 });
    await mkdir(attempt, { mode: 0o700 });
    return attempt;
  }

  /** Removes the folders of a failed attempt. */
  discard(name: BuildName): Promise<void> {
    return removeFolder(this.#folderOf(name));
  }

  /** Records that the attempt is complete. The rename makes `find` return it from now on. */
  async complete(name: BuildName, attempt: string): Promise<void> {
    const folder = this.#folderOf(name);
    const aside = join(folder, `${RECORD}.part`);
    await writeFile(aside, JSON.stringify({ attempt: attempt.slice(folder.length + 1) }), { flush: true });
    await rename(aside, join(folder, RECORD));
  }

  /** Removes the deployment's artifacts except those with these keys. */
  async keepOnly(deploymentId: string, keys: readonly string[]): Promise<void> {
    const folder = join(this.#folder, deploymentId);
    for (const name of await readdir(folder).catch(() => [] as string[])) {
      if (!keys.includes(name)) await removeFolder(join(folder, name));
    }
  }

  /** Removes the artifacts of all other deployments. */
  async keepDeployments(ids: readonly string[]): Promise<void> {
    const others = (await readdir(this.#folder).catch(() => [] as string[])).filter((id) => !ids.includes(id));
    for (const id of others) await this.remove(id);
  }

  remove(deploymentId: string): Promise<void> {
    return removeFolder(join(this.#folder, deploymentId));
  }

  #folderOf({ deploymentId, key }: BuildName): string {
    return join(this.#folder, deploymentId, key);
  }
}
