import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const CACHE = join(import.meta.dirname, '../../node_modules/.cache');
const CACHED = join(CACHE, 'promtool');
const DEBIAN_PACKAGE = 'prometheus';
const HOW_TO_GET =
  'The tests of alert rules need promtool: install the package `prometheus` of your system, or name the program in ' +
  'RUNYARD_TEST_PROMTOOL.';

const run = promisify(execFile);

/** Returns what promtool prints; rejects with its errors, which name the file and what is wrong there. */
export async function promtool(...args: string[]): Promise<string> {
  program ??= findPromtool();
  const path = await program;
  try {
    const { stdout } = await run(path, args);
    return stdout;
  } catch (error) {
    const { stdout, stderr, message } = error as Error & { stdout?: string; stderr?: string };
    throw new Error(`promtool ${args.join(' ')} failed: ${`${stderr ?? ''}${stdout ?? ''}` || message}`);
  }
}
let program: Promise<string> | undefined;

/** Returns the path of promtool: the one that the environment names, one of the PATH, or that of Debian's package. */
async function findPromtool(): Promise<string> {
  const named = process.env.RUNYARD_TEST_PROMTOOL;
  if (named) return named;
  if (await isOnPath('promtool')) return 'promtool';
  if (!existsSync(CACHED)) await fetchFromDebian();
  return CACHED;
}

async function isOnPath(name: string): Promise<boolean> {
  return run(name, ['--version']).then(
    () => true,
    () => false,
  );
}

/**
 * Fetches the package from where this machine's apt gets its packages, which checks signatures, and installs nothing: it
 * needs no rights. Its lists of packages are read into a folder of its own, as those of a new machine are empty. The
 * program is renamed at last: an existing one is complete.
 */
async function fetchFromDebian(): Promise<void> {
  await mkdir(CACHE, { recursive: true });
  const folder = await mkdtemp(join(CACHE, 'promtool-'));
  try {
    await Promise.all(
      ['lists/partial', 'archives/partial'].map((name) => mkdir(join(folder, name), { recursive: true })),
    );
    const places = [
      '-o',
      `Dir::State::Lists=${folder}/lists`,
      '-o',
      `Dir::Cache=${folder}`,
      '-o',
      'Debug::NoLocking=1',
    ];
    const options = { cwd: folder };
    await run('apt-get', ['--quiet', ...places, 'update'], options);
    await run('apt-get', ['--quiet', ...places, 'download', DEBIAN_PACKAGE], options);
    const archive = (await readdir(folder)).find((name) => name.endsWith('.deb'));
    await run('dpkg-deb', ['--extract', archive ?? '', 'files'], options);
    await rename(join(folder, 'files/usr/bin/promtool'), CACHED);
  } catch (error) {
    throw new Error(HOW_TO_GET, { cause: error });
  } finally {
    await rm(folder, { recursive: true });
  }
}
