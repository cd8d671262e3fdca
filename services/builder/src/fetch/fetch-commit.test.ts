import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fetchCommit } from './fetch-commit.ts';

let home: string;
let repository: string;
let folder: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'runyard-git-test-'));
  repository = join(home, 'origin');
  folder = join(home, 'checkout');
  await mkdir(folder);
  execFileSync('git', ['init', '--quiet', '--initial-branch=main', repository]);
});
afterEach(() => rm(home, { recursive: true, force: true }));

function git(...args: string[]): string {
  const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  return execFileSync('git', [...identity, '-C', repository, ...args], { encoding: 'utf8' }).trim();
}

async function commit(name: string, content: string): Promise<string> {
  await writeFile(join(repository, name), content);
  git('add', '--all');
  git('commit', '--quiet', '--message', name);
  return git('rev-parse', 'HEAD');
}

async function fetched(ref: string): Promise<string> {
  const signal = new AbortController().signal;
  return fetchCommit({
    repository: { url: repository, protocol: 'file', resolved: null },
    ref,
    token: null,
    folder,
    temporaryFolder: join(home, 'temporary'),
    signal,
  });
}

describe('a commit of a repository', () => {
  it('is fetched by its branch, its tag and its hash', async () => {
    const first = await commit('a.txt', 'one');
    git('tag', 'v1');
    const second = await commit('a.txt', 'two');
    expect(await fetched('refs/heads/main')).toBe(second);
    expect(await readFile(join(folder, 'a.txt'), 'utf8')).toBe('two');
    expect(await fetched('refs/tags/v1')).toBe(first);
    expect(await readFile(join(folder, 'a.txt'), 'utf8')).toBe('one');
    expect(await fetched(second)).toBe(second);
    expect(await readdir(folder)).toEqual(['a.txt']);
    expect(await readdir(join(home, 'temporary'))).toEqual([]);
  });

  it('contains no link to files of this machine', async () => {
    await symlink('/etc/passwd', join(repository, 'link'));
    await commit('a.txt', 'one');
    await fetched('refs/heads/main');
    expect(await readFile(join(folder, 'link'), 'utf8')).toBe('/etc/passwd');
  });

  it('that unfolds to too many files is refused, however small it is', async () => {
    // A folder contains another forty times, and so on: a few hundred bytes unfold to a hundred million files.
    const made = (args: string[], input: string) =>
      execFileSync('git', ['-C', repository, ...args], { input, encoding: 'utf8' }).trim();
    let entry = `100644 blob ${made(['hash-object', '-w', '--stdin'], 'x')}`;
    for (let depth = 0; depth < 5; depth++) {
      const entries = Array.from({ length: 40 }, (_, index) => `${entry}\tf${index}\n`).join('');
      entry = `040000 tree ${made(['mktree'], entries)}`;
    }
    git('update-ref', 'refs/heads/main', git('commit-tree', '-m', 'bomb', entry.split(' ')[2]!));
    await expect(fetched('refs/heads/main')).rejects.toThrow('holds more than 100000 files');
  });

  it("that does not exist is reported with git's message", async () => {
    await commit('a.txt', 'one');
    await expect(fetched('refs/heads/nowhere')).rejects.toThrow(/git fetch: fatal: couldn't find remote ref/);
  });
});
