import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { qualifyImage, readCommit, webAddressOf } from './image-labels.mjs';

let folder: string;
const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, stdio: 'pipe' });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'runyard-commit-'));
});
afterAll(() => rm(folder, { recursive: true }));

it('a folder that is no checkout is refused in a sentence', () => {
  expect(() => readCommit(folder)).toThrow(
    /^Images are labelled with their commit, which git does not say: fatal: not a/,
  );
});

it('a checkout is named by its commit and the time of that, and by -dirty once a file differs', async () => {
  git('init', '--quiet');
  git('remote', 'add', 'origin', 'https://ada:secret@example.com/ada/runyard.git');
  const who = ['-c', 'user.name=ada', '-c', 'user.email=ada@example.com'];
  const date = '2026-01-02T05:04:05+02:00';
  execFileSync('git', [...who, 'commit', '--quiet', '--allow-empty', '--message', 'one'], {
    cwd: folder,
    env: { ...process.env, GIT_COMMITTER_DATE: date, GIT_AUTHOR_DATE: '2020-01-01T00:00:00Z' },
  });
  const commit = readCommit(folder);
  expect(commit).toEqual({
    revision: expect.stringMatching(/^[0-9a-f]{40}$/),
    created: '2026-01-02T03:04:05Z',
    source: 'https://example.com/ada/runyard',
  });
  git('config', 'status.showUntrackedFiles', 'no');
  await writeFile(join(folder, 'new.ts'), '');
  expect(readCommit(folder)).toEqual({ ...commit, revision: `${commit.revision}-dirty` });
});

it.each([
  ['git@github.com:ada/runyard.git', 'https://github.com/ada/runyard'],
  ['ssh://git@example.com:2222/ada/runyard', 'https://example.com/ada/runyard'],
  ['http://example.com:3000/ada/runyard.git/', 'http://example.com:3000/ada/runyard'],
  ['/srv/git/runyard', undefined],
  ['file:///srv/git/runyard', undefined],
  ['../runyard', undefined],
])('the remote %s has the address %s on the web', (remote, address) => {
  expect(webAddressOf(remote)).toBe(address);
});

it.each([
  ['node:20-bookworm-slim', 'docker.io/library/node:20-bookworm-slim'],
  ['apache/kafka:4.1.1', 'docker.io/apache/kafka:4.1.1'],
  ['localhost/node:20', 'localhost/node:20'],
  ['registry.example.com/node:20', 'registry.example.com/node:20'],
])('the base %s is named %s', (image, name) => {
  expect(qualifyImage(image)).toBe(name);
});
