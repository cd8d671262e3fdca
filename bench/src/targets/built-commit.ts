import { execFile } from 'node:child_process';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);
/** Bytes of output that a step may have. */
const OUTPUT_MAX = 2 ** 24;

/**
 * Returns a folder with a commit of the repository, installed and built. It is kept below `node_modules`, for the next
 * call.
 *
 * @param ref a branch, a tag or a commit
 * @throws Error when there is no such commit, or it cannot be built
 */
export async function buildCommit(repository: string, ref: string, say: (line: string) => void): Promise<string> {
  const commit = await resolveCommit(repository, ref);
  const cache = join(repository, 'node_modules/.cache/bench');
  const folder = join(cache, commit);
  if (await stat(folder).catch(() => undefined)) return folder;
  say(`${ref} is built, once`);
  const making = `${folder}-making`;
  await rm(making, { recursive: true, force: true });
  await mkdir(cache, { recursive: true });
  await execute('git', ['clone', '--quiet', '--shared', '--no-checkout', repository, making]);
  const bin = join(repository, 'node_modules/.bin');
  // Turbo looks for pnpm on the PATH, and sends what it is not told to keep.
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}`, TURBO_TELEMETRY_DISABLED: '1' };
  const steps = [
    ['git', 'checkout', '--quiet', commit],
    ['pnpm', 'install', '--frozen-lockfile', '--prefer-offline'],
    [join(making, 'node_modules/.bin/turbo'), 'run', 'generate', 'build', '--output-logs=errors-only'],
  ] as const;
  for (const [program, ...args] of steps) await execute(program, args, { cwd: making, env, maxBuffer: OUTPUT_MAX });
  await rename(making, folder);
  return folder;
}

async function resolveCommit(repository: string, ref: string): Promise<string> {
  try {
    const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`];
    return (await execute('git', args, { cwd: repository })).stdout.trim();
  } catch (cause) {
    throw new Error(`There is no commit "${ref}" here.`, { cause });
  }
}
