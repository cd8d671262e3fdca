import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

const repository = path.resolve(import.meta.dirname, '../..');
const cache = path.join(repository, 'e2e/node_modules/.cache');

/** A released state of the repository. */
export interface Release {
  /** The ref that was requested: a tag, a branch or a commit. */
  ref: string;
  commit: string;
}

/**
 * Returns the release before this state: the one named, or else the newest tag `v*` that is not this very commit.
 *
 * @returns undefined when nothing is named and nothing was released yet, as far as this clone knows
 * @throws Error when the named one does not exist
 */
export function findPreviousRelease(named?: string): Release | undefined {
  const ref = named ?? newestTag();
  if (ref === undefined) return undefined;
  try {
    return { ref, commit: git('rev-parse', '--verify', '--end-of-options', `${ref}^{commit}`).trim() };
  } catch (cause) {
    throw new Error(`There is no release "${ref}" in this clone.`, { cause });
  }
}

/** Returns a file as it was released; undefined when it did not exist. */
export function readReleasedFile({ commit }: Release, file: string): string | undefined {
  try {
    return git('show', `${commit}:${file}`);
  } catch {
    return undefined;
  }
}

/**
 * Returns the folder of a release with its services installed and built, made once for each commit. Packages come from
 * the store of this machine as far as it has them.
 */
export async function buildRelease({ ref, commit }: Release, say: (line: string) => void): Promise<string> {
  const folder = path.join(cache, `release-${commit.slice(0, 12)}`);
  const done = path.join(folder, '.built');
  if (existsSync(done)) return folder;
  say(`Building the services of ${ref}, once`);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await succeed(repository, 'sh', ['-c', 'git archive "$0" | tar -x -C "$1"', commit, folder]);
  const { packageManager } = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8'));
  const pnpm = (...args: string[]) => succeed(folder, 'npx', ['--yes', packageManager, ...args]);
  await pnpm('install', '--frozen-lockfile', '--prefer-offline');
  for (const script of ['generate', 'build']) {
    await pnpm('--recursive', '--filter', './services/*', 'run', '--if-present', script);
  }
  await writeFile(done, `${ref}\n`);
  return folder;
}

function newestTag(): string | undefined {
  const tags = git('tag', '--list', 'v*', '--no-contains', 'HEAD', '--sort=-version:refname');
  return tags.split('\n')[0] || undefined;
}

function git(...args: string[]): string {
  return execFileSync('git', args, {
    cwd: repository,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function succeed(cwd: string, command: string, args: string[]): Promise<void> {
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${output.slice(-4_000)}`);
}
