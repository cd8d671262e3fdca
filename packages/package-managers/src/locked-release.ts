/** Reads in a lock file which release of a package an installation will place where files of a folder look for it. */
import { join, posix, relative, sep } from 'node:path';
import { parse } from 'yaml';
import type { Installation } from './installation.ts';
import { rangeOf, readManifest } from './manifest.ts';
import { type PackageAgent, readLockFile } from './package-tools.ts';

interface Question {
  /** The lock file. */
  text: string;
  name: string;
  /** The folder that asks and those above it, relative to that of the lock file, which is '' and the last. */
  paths: string[];
  root: string;
}

/** Each returns undefined for a release that is not one of the registry. */
const READERS: Record<PackageAgent, (question: Question) => Promise<string | undefined>> = {
  npm: findInNpmLock,
  pnpm: findInPnpmLock,
  yarn: (question) => findInYarnLock(question, ''),
  'yarn@berry': (question) => findInYarnLock(question, 'npm:'),
  bun: findInBunLock,
};

/**
 * Returns the release that files of the folder will import; undefined without a lock file, and where it is not sure
 * from that file alone.
 *
 * @param folder at or below that of the installation
 */
export async function findLockedRelease(
  { tool, folder: root }: Installation,
  name: string,
  folder: string,
): Promise<string | undefined> {
  const agent = tool?.agent ?? 'npm';
  const lock = await readLockFile(root, agent);
  const path = relative(root, folder).split(sep).join('/');
  if (lock === null || path.startsWith('..')) return undefined;
  const paths = [path];
  for (let at = path; at !== ''; paths.push(at)) at = posix.join(at, '..').replace(/^\.$/, '');
  try {
    return await READERS[agent]({ text: lock.text, name, paths, root });
  } catch {
    // The package manager itself says what is wrong with a lock file.
    return undefined;
  }
}

/** It names the folder of each package, and Node.js takes the nearest. */
async function findInNpmLock({ text, name, paths }: Question): Promise<string | undefined> {
  const { packages } = JSON.parse(text) as { packages: Record<string, { version?: string; link?: boolean }> };
  const found = paths.map((path) => packages[posix.join(path, 'node_modules', name)]).find((entry) => entry);
  return found?.link ? undefined : found?.version;
}

/** It names the direct dependencies of each folder with a `package.json`, and only those are found from there. */
async function findInPnpmLock({ text, name, paths }: Question): Promise<string | undefined> {
  type Sections = Partial<Record<string, Record<string, string | { version: string }>>>;
  const lock = parse(text) as Sections & { importers?: Record<string, Sections> };
  const importers = lock.importers ?? { '.': lock };
  for (const path of paths) {
    const { dependencies, devDependencies, optionalDependencies } = importers[path || '.'] ?? {};
    const found = { ...devDependencies, ...optionalDependencies, ...dependencies }[name];
    // The packages that fulfil its peer dependencies stand behind the version.
    if (found) return /^\d[^(_/]*/.exec(typeof found === 'string' ? found : found.version)?.[0];
  }
  return undefined;
}

/** It names the release of each range. Of several releases, settings of the project may choose another for the range. */
async function findInYarnLock({ text, name, paths, root }: Question, protocol: string): Promise<string | undefined> {
  const ranges = await Promise.all(
    paths.map(async (path) => {
      const manifest = await readManifest(join(root, path));
      return manifest === null ? undefined : rangeOf(manifest, name);
    }),
  );
  const range = ranges.find((each) => each !== undefined);
  const entries = text.split(/\n(?=\S)/).map((entry) => ({
    names: (entry.split(':\n', 1)[0] as string).replaceAll('"', '').split(', '),
    version: /^ {2}version:? "?([^"\n]+)/m.exec(entry)?.[1],
  }));
  const own = entries.filter(({ names }) => names.some((each) => each.startsWith(`${name}@`)));
  const isLocked = own.some(({ names }) => names.includes(`${name}@${protocol}${range}`));
  return isLocked ? singleOf(own.map(({ version }) => version)) : undefined;
}

/** It names a package by the packages above it. It is JSON with commas too many, which YAML allows. */
async function findInBunLock({ text, name }: Question): Promise<string | undefined> {
  const { packages } = parse(text) as { packages: Record<string, [id: string]> };
  const ids = Object.entries(packages).flatMap(([key, [id]]) => (`/${key}`.endsWith(`/${name}`) ? id : []));
  const id = singleOf(ids);
  return id?.startsWith(`${name}@`) ? /^\d.*/.exec(id.slice(name.length + 1))?.[0] : undefined;
}

function singleOf<T>(values: T[]): T | undefined {
  return new Set(values).size === 1 ? values[0] : undefined;
}
