/**
 * Records the files that the compiler looks at, so that what it found is recognized as outdated: each as it was before
 * it was first looked at, since it may change while the compiler works.
 */
import { dirname, join, relative, sep } from 'node:path';
import ts from 'typescript-5';
import { digestFile, type FileDigests } from './file-digests.ts';

const PACKAGES = `${sep}node_modules${sep}`;
const COMPILER = dirname(ts.sys.getExecutingFilePath());

/** Files that change with the installed packages, of which there are too many to look at each. */
const INSTALLATION_FILES = [
  'package.json',
  'package-lock.json',
  'npm-shrinkwrap.json',
  'pnpm-lock.yaml',
  'yarn.lock',
  'bun.lock',
  'bun.lockb',
  'node_modules/.package-lock.json',
  'node_modules/.modules.yaml',
  'node_modules/.yarn-state.yml',
  'node_modules/.yarn-integrity',
];

export class ConsultedFiles {
  /** The file system, which records what it is asked for. */
  readonly system: ts.System;
  /** All that was asked for outside of packages, and what says which packages there are. */
  readonly digests: FileDigests = {};
  readonly #directory: string;

  /** @param directory to which paths are relative */
  constructor(directory: string) {
    this.#directory = directory;
    this.system = {
      ...ts.sys,
      readFile: (path, encoding) => {
        this.#record(path);
        return ts.sys.readFile(path, encoding);
      },
      fileExists: (path) => {
        this.#record(path);
        return ts.sys.fileExists(path);
      },
      directoryExists: (path) => {
        const exists = ts.sys.directoryExists(path);
        // In a folder that exists, each file that is looked for is recorded.
        if (!exists) this.#record(path);
        return exists;
      },
    };
    for (let folder = directory, below = ''; folder !== below; below = folder, folder = dirname(folder)) {
      for (const name of INSTALLATION_FILES) this.#add(join(folder, name));
    }
  }

  #record(path: string): void {
    if (!`${path}${sep}`.includes(PACKAGES) && !path.startsWith(COMPILER)) this.#add(path);
  }

  #add(path: string): void {
    const key = relative(this.#directory, path);
    if (!Object.hasOwn(this.digests, key)) this.digests[key] = digestFile(path);
  }
}
