/** Records which files the compiler looks at, so that what it found is recognized as outdated. */
import { dirname, join, relative, sep } from 'node:path';
import ts from 'typescript-5';

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
  readonly #paths = new Set<string>();

  constructor() {
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
  }

  /** Returns all that was asked for outside of packages, and what says which packages there are. */
  relativeTo(directory: string): string[] {
    const folders = [directory];
    for (let folder = directory; dirname(folder) !== folder; ) {
      folder = dirname(folder);
      folders.push(folder);
    }
    const installation = folders.flatMap((folder) => INSTALLATION_FILES.map((name) => join(folder, name)));
    return [...this.#paths, ...installation].map((path) => relative(directory, path));
  }

  #record(path: string): void {
    if (!`${path}${sep}`.includes(PACKAGES) && !path.startsWith(COMPILER)) this.#paths.add(path);
  }
}
