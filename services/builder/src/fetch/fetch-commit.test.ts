import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fetchCommit } from './fetch-commit.ts';

const MEBIBYTE = 1024 ** 2;

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

async function fetched(ref: string, memoryBytes?: number): Promise<string> {
  const signal = new AbortController().signal;
  return fetchCommit({
    repository: { url: repository, protocol: 'file', resolved: null },
    ref,
    token: null,
    folder,
    temporaryFolder: join(home, 'temporary'),
    ...(memoryBytes !== undefined && { memoryBytes }),
    signal,
  });
}

/**
 * Makes a pack of a few kilobytes with a commit of two files, the second of which is the first so many times: the form of
 * packs has an instruction for that.
 *
 * @param bytes of the first file: zeros, at most 2^24 - 1
 */
function packOfCopies({ bytes, copies }: { bytes: number; copies: number }): { bytes: Buffer; commit: string } {
  const base = Buffer.alloc(bytes);
  const nameOf = (type: string, content: Iterable<Buffer>, size: number) => {
    const hash = createHash('sha1').update(`${type} ${size}\0`);
    for (const part of content) hash.update(part);
    return hash.digest();
  };
  const number = (value: number): number[] =>
    value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...number(value >>> 7)];
  const baseName = nameOf('blob', [base], bytes);
  const copy = Buffer.from([0xf0, 0xff, 0xff, 0xff]);
  const delta = Buffer.from([
    ...number(bytes),
    ...number(bytes * copies),
    ...Buffer.concat(Array<Buffer>(copies).fill(copy)),
  ]);
  const bigName = nameOf('blob', Array<Buffer>(copies).fill(base), bytes * copies);
  const tree = Buffer.concat([Buffer.from('100644 base\0'), baseName, Buffer.from('100644 big\0'), bigName]);
  const treeName = nameOf('tree', [tree], tree.length).toString('hex');
  const commit = Buffer.from(`tree ${treeName}\nauthor a <a@b> 0 +0000\ncommitter a <a@b> 0 +0000\n\nx\n`);
  const headerOf = (type: number, size: number) => {
    const [first, rest] = [(type << 4) | (size & 15), size >>> 4];
    return Buffer.from(rest === 0 ? [first] : [first | 0x80, ...number(rest)]);
  };
  const head = Buffer.from('PACK\0\0\0\x02\0\0\0\x04', 'latin1');
  const objects = [
    [headerOf(3, bytes), deflateSync(base)],
    [headerOf(7, delta.length), baseName, deflateSync(delta)],
    [headerOf(2, tree.length), deflateSync(tree)],
    [headerOf(1, commit.length), deflateSync(commit)],
  ];
  const all = Buffer.concat([head, ...objects.flat()]);
  return {
    bytes: Buffer.concat([all, createHash('sha1').update(all).digest()]),
    commit: nameOf('commit', [commit], commit.length).toString('hex'),
  };
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

  it('that unfolds to more memory than git may use is refused, and one with a large file is not', async () => {
    const pack = packOfCopies({ bytes: 0xffffff, copies: 6 });
    execFileSync('git', ['-C', repository, 'index-pack', '--stdin'], { input: pack.bytes });
    git('update-ref', 'refs/heads/unfolding', pack.commit);
    await writeFile(join(home, 'large'), randomBytes(MEBIBYTE));
    await truncate(join(home, 'large'), 96 * MEBIBYTE);
    await rename(join(home, 'large'), join(repository, 'large'));
    const sha = await commit('a.txt', 'one');
    await expect(fetched('refs/heads/unfolding', 80 * MEBIBYTE)).rejects.toThrow(/takes more than \d+ bytes of memory/);
    expect(await fetched('refs/heads/main', 80 * MEBIBYTE)).toBe(sha);
    expect((await stat(join(folder, 'large'))).size).toBe(96 * MEBIBYTE);
  });

  it('is written as it was counted, whatever its attributes make of it', async () => {
    const content = '$Id$\n'.repeat(1000);
    await commit('a.txt', content);
    await writeFile(join(repository, '.gitattributes'), '*.txt ident working-tree-encoding=UTF-32LE\n');
    git('add', '.gitattributes');
    git('commit', '--quiet', '--message', 'attributes');
    await fetched('refs/heads/main');
    expect(await readFile(join(folder, 'a.txt'), 'utf8')).toBe(content);
  });

  it("that does not exist is reported with git's message", async () => {
    await commit('a.txt', 'one');
    await expect(fetched('refs/heads/nowhere')).rejects.toThrow(/git fetch: fatal: couldn't find remote ref/);
  });
});
