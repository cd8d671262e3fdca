import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hasEnded } from '../has-ended.ts';

const repository = fileURLToPath(new URL('../../../../', import.meta.url));
const script = join(repository, 'infra/build/bundle.mjs');
const groups = ['services', 'hosts', 'packages', 'infra'];

/** Set by `npm test`, which has just built every service from the present sources. */
const builtVariable = 'RUNYARD_TESTS_ARE_OF_BUILD';

/** A bundle is in its package's folder, so that its imports are resolved and migrations found as from dist/. */
const folderPrefix = '.bundle-';

/**
 * The bundles of one test run, made from the present sources at the first request. They are separate from those in
 * dist/, so that platforms or test runs that use dist/ are not disturbed.
 */
export class Bundles {
  readonly #made = new Map<string, Promise<string>>();
  #count = 0;

  /**
   * Returns the file to run for a source file: bundled with the other entries of its package's build if it is one, or
   * alone.
   *
   * @param entry its path in the repository
   * @throws Error with the message of the bundler
   */
  async of(entry: string): Promise<string> {
    const folder = packageOf(join(repository, entry));
    const source = relative(folder, join(repository, entry));
    const entries = builtEntries(folder);
    const name = Object.keys(entries).find((name) => entries[name] === source);
    if (name === undefined) return join(await this.#once(entry, () => this.#bundle(folder, source)), 'main.js');
    const isBuilt = process.env[builtVariable] === '1' && existsSync(join(folder, 'dist'));
    return join(isBuilt ? join(folder, 'dist') : await this.#once(folder, () => this.#bundle(folder)), `${name}.js`);
  }

  /** Makes later requests build new bundles, because the sources may have changed. */
  forget(): void {
    this.#made.clear();
  }

  /** Deletes the bundles of this process, and those of killed runs. */
  async remove(): Promise<void> {
    await Promise.allSettled(this.#made.values());
    for (const group of groups)
      for (const folder of await readdir(join(repository, group)))
        for (const name of await readdir(join(repository, group, folder)).catch(() => [] as string[]))
          if (name.startsWith(folderPrefix) && isDone(name))
            await rm(join(repository, group, folder, name), { recursive: true, force: true });
  }

  #once(key: string, make: () => Promise<string>): Promise<string> {
    const made = this.#made.get(key) ?? make();
    this.#made.set(key, made);
    return made;
  }

  /** @returns the folder of the bundle */
  async #bundle(folder: string, ...source: string[]): Promise<string> {
    this.#count += 1;
    const bundle = join(folder, `${folderPrefix}${process.pid}-${this.#count}`);
    const child = spawn(process.execPath, [script, bundle, ...source], { cwd: folder });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    const code = await new Promise<number | null>((resolve, reject) =>
      child.once('error', reject).once('close', resolve),
    );
    if (code !== 0) throw new Error(`${[folder, ...source].join('/')} could not be bundled (${code}):\n${output}`);
    return bundle;
  }
}

function packageOf(file: string): string {
  let folder = dirname(file);
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return folder;
}

/** Returns the entries of the package's build: source files by the name of their output. */
function builtEntries(folder: string): Record<string, string> {
  const read = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'));
  if (!read('package.json').scripts?.build) return {};
  return {
    main: 'src/main.ts',
    ...(existsSync(join(folder, 'build.config.json')) && read('build.config.json').entries),
  };
}

/** Returns whether the bundle is of this process, or of one that has ended. */
function isDone(folder: string): boolean {
  const pid = Number(folder.slice(folderPrefix.length).split('-')[0]);
  return pid === process.pid || hasEnded(pid);
}
