import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { runProgram } from '@runyard/test-kit/python';

const CACHE = path.resolve(import.meta.dirname, '../node_modules/.cache');

/**
 * Returns a folder with a commit of a repository, cloned once for each commit.
 *
 * @param address what `git clone` takes: a URL, or a folder
 * @throws if the repository cannot be reached, or lacks the commit
 */
export async function cloneCommit(address: string, commit: string): Promise<string> {
  const place = path.join(CACHE, `kit-${commit}`);
  if (existsSync(place)) return place;
  const aside = `${place}-${process.pid}`;
  try {
    await git(['clone', '--quiet', '--no-checkout', address, aside]);
    await git(['-C', aside, 'checkout', '--quiet', commit]);
    await rename(aside, place);
    return place;
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

async function git(args: string[]): Promise<void> {
  const { code, output } = await runProgram('git', args, { variables: { GIT_TERMINAL_PROMPT: '0' } });
  if (code !== 0) throw new Error(`git ${args.join(' ')} ended with ${code}\n${output}`);
}
