import { join } from 'node:path';
import type { OrderedSource } from '@runyard/contracts';
import { BuildError, type LocalProject, openLocalDirectory } from '@runyard/deployments';
import { AppError } from '@runyard/service-kit';
import type { ControlPlaneClient } from '../jobs/control-plane-client.ts';
import { fetchCommit } from './fetch-commit.ts';
import { unpackArchive } from './unpack-archive.ts';

export interface FetchContext {
  signal: AbortSignal;
  log: { write(line: string, options: { source: string }): void };
  onCommit(commit: string): void;
}

/** Gets the code of projects. */
export class ProjectSources {
  readonly #client: Pick<ControlPlaneClient, 'open'>;
  readonly #temporaryFolder: string;

  constructor({ client, dataDir }: { client: Pick<ControlPlaneClient, 'open'>; dataDir: string }) {
    this.#client = client;
    this.#temporaryFolder = join(dataDir, 'git');
  }

  /**
   * Writes the code into an empty folder.
   *
   * @throws BuildError when the code cannot be fetched, and another attempt would not help; OrderRefusedError;
   * ControlPlaneUnavailableError when the storage that holds it is unavailable
   */
  async fetch(
    source: Exclude<OrderedSource, { kind: 'folder' }>,
    folder: string,
    { signal, log, onCommit }: FetchContext,
  ): Promise<void> {
    const say = (line: string) => log.write(line, { source: 'build' });
    if (source.kind === 'archive') {
      const archive = await this.#client.open(source.url, signal);
      say('Unpacking the uploaded archive');
      return unpackArchive(archive, folder, { signal });
    }
    const { ref, token, kind: _, ...repository } = source;
    say(`Fetching ${ref} of ${repository.url}`);
    const temporaryFolder = this.#temporaryFolder;
    const commit = await fetchCommit({ repository, ref, token, folder, temporaryFolder, signal });
    say(`This is commit ${commit}`);
    onCommit(commit);
  }

  /** Opens a folder of this machine, which needs no build. @throws BuildError that names the fault */
  async openFolder(path: string, configPath: string): Promise<LocalProject> {
    try {
      return await openLocalDirectory({ project_path: path, langgraph_config_path: configPath });
    } catch (error) {
      throw error instanceof AppError ? new BuildError(error.message, { cause: error }) : error;
    }
  }
}
