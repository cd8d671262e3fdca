import { realpath } from 'node:fs/promises';
import { isAbsolute, relative, resolve } from 'node:path';
import { RevisionStartError } from '@runyard/deployments';
import type { Driver, RevisionSpec, RevisionStartOptions, RunningRevision } from './driver.ts';

/** Runs only projects in one folder of this machine. */
export class ProjectFolderDriver implements Driver {
  readonly #folder: string | undefined;
  readonly #driver: Driver;

  /** @param folder undefined: no project may run */
  constructor(folder: string | undefined, driver: Driver) {
    this.#folder = folder;
    this.#driver = driver;
  }

  async start(spec: RevisionSpec, options: RevisionStartOptions): Promise<RunningRevision> {
    if (spec.artifact.kind === 'project') await this.#checkFolder(spec.artifact.project.directory);
    return this.#driver.start(spec, options);
  }

  /** Follows links, since the location of the code counts. */
  async #checkFolder(directory: string): Promise<void> {
    if (this.#folder === undefined) {
      throw new RevisionStartError('This data plane runs no projects of its machine: PROJECTS_DIR is not set.');
    }
    const path = relative(await realpath(resolve(this.#folder)), await realpath(directory));
    if (path.startsWith('..') || isAbsolute(path)) {
      throw new RevisionStartError(`This data plane runs no project outside of its PROJECTS_DIR: ${directory} is.`);
    }
  }
}
