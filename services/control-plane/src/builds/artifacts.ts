import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SourceConfig, SourceRevisionConfig } from '@runyard/contracts';

/** What a build is made from: revisions that differ in nothing of it share the build. */
export interface BuildInput {
  deploymentId: string;
  sourceKey: string;
  configPath: string;
  installCommand: string | null;
  buildCommand: string | null;
}

const RECORD = 'artifact.json';

/**
 * Built projects: `DATA_DIR/artifacts/<deployment>/<build>/<attempt>`, where the build's record names the attempt that is
 * whole. They are a cache: what is not here, as on another machine, is built again from its source.
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

  /** Tells a build from the others of its deployment. */
  static keyOf({ sourceKey, configPath, installCommand, buildCommand }: BuildInput): string {
    const text = JSON.stringify([sourceKey, configPath, installCommand, buildCommand]);
    return createHash('sha256').update(text).digest('hex').slice(0, 32);
  }

  /** The folder of what was built of it; null when nothing was yet, or not to its end. */
  async find(input: BuildInput): Promise<string | null> {
    const folder = this.#folderOf(input);
    const text = await readFile(join(folder, RECORD), 'utf8').catch(() => null);
    return text === null ? null : join(folder, (JSON.parse(text) as { attempt: string }).attempt);
  }

  /** A folder to build in. What earlier attempts have left, ended or killed, is removed; their processes cannot write to it. */
  async begin(input: BuildInput): Promise<string> {
    const folder = this.#folderOf(input);
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    const attempt = join(folder, randomUUID());
    // Who builds may be another user, and has to get there.
    await mkdir(folder, { recursive: true, mode: 0o711 });
    await mkdir(attempt, { mode: 0o700 });
    return attempt;
  }

  /** The attempt failed. */
  discard(input: BuildInput): Promise<void> {
    return rm(this.#folderOf(input), { recursive: true, force: true, maxRetries: 5 });
  }

  /** The attempt is whole. */
  async complete(input: BuildInput, attempt: string): Promise<void> {
    const folder = this.#folderOf(input);
    const aside = join(folder, `${RECORD}.part`);
    await writeFile(aside, JSON.stringify({ attempt: attempt.slice(folder.length + 1) }), { flush: true });
    await rename(aside, join(folder, RECORD));
  }

  /** Removes the deployment's artifacts but those made from these inputs. */
  async keepOnly(deploymentId: string, inputs: BuildInput[]): Promise<void> {
    const folder = join(this.#folder, deploymentId);
    const kept = new Set(inputs.map(Artifacts.keyOf));
    for (const name of await readdir(folder).catch(() => [] as string[])) {
      if (!kept.has(name)) await rm(join(folder, name), { recursive: true, force: true });
    }
  }

  remove(deploymentId: string): Promise<void> {
    return rm(join(this.#folder, deploymentId), { recursive: true, force: true });
  }

  #folderOf(input: BuildInput): string {
    return join(this.#folder, input.deploymentId, Artifacts.keyOf(input));
  }
}
