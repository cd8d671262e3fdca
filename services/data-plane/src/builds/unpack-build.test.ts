import { mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createGzip, gzipSync } from 'node:zlib';
import { projectLayer } from '@runyard/deployments';
import { Header } from 'tar';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { unpackBuild } from './unpack-build.ts';

let root: string;
let target: string;
const signal = new AbortController().signal;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'runyard-unpack-'));
  target = join(root, 'target');
  await mkdir(target);
});
afterEach(() => rm(root, { recursive: true }));

it('a project comes out as it was packed, with links as they are', async () => {
  const source = join(root, 'source');
  await mkdir(join(source, 'src'), { recursive: true });
  await writeFile(join(source, 'src/run.sh'), 'echo hello', { mode: 0o755 });
  await symlink('/somewhere/else', join(source, 'outside'));
  await symlink('src/run.sh', join(source, 'inside'));
  const archive = Readable.from(projectLayer(source, () => undefined)).pipe(createGzip());
  await unpackBuild(archive, target, signal);
  expect((await readdir(target)).sort()).toEqual(['inside', 'outside', 'src']);
  expect(await readFile(join(target, 'src/run.sh'), 'utf8')).toBe('echo hello');
  expect([await readlink(join(target, 'outside')), await readlink(join(target, 'inside'))]).toEqual([
    '/somewhere/else',
    'src/run.sh',
  ]);
});

const file = (path: string) => [
  entry({ path, type: 'File', size: 4 }),
  Buffer.concat([Buffer.from('evil'), Buffer.alloc(508)]),
];
function entry(data: ConstructorParameters<typeof Header>[0] & object): Buffer {
  const header = new Header({ mode: 0o644, mtime: new Date(0), ...data } as never);
  header.encode();
  return header.block!;
}

it.each([
  ['a path that leads out', () => file('deps/project/../../../evil')],
  ['an absolute path', () => file(`${root}/evil`)],
  ['a path outside of the project', () => file('deps/evil')],
  [
    'a path through a link',
    () => [
      entry({ path: 'deps/project/link', type: 'SymbolicLink', linkpath: root, size: 0 }),
      ...file('deps/project/link/evil'),
    ],
  ],
  [
    'a path through a link that is written in other ways',
    () => [
      entry({ path: 'deps/project/link/', type: 'SymbolicLink', linkpath: root, size: 0 }),
      ...file('deps/project/./link/evil'),
      ...file('deps/project/link/evil'),
    ],
  ],
  ['a path of more levels than the platform packs', () => file(`deps/project/${'a/'.repeat(100)}evil`)],
  ['a hard link', () => [entry({ path: 'deps/project/hard', type: 'Link', linkpath: '/etc/hostname', size: 0 })]],
])('an archive with %s is refused, and nothing is written outside of the folder', async (_, blocks) => {
  const archive = gzipSync(Buffer.concat([...blocks(), Buffer.alloc(1024)]));
  await expect(unpackBuild(Readable.from([archive]), target, signal)).rejects.toThrow();
  expect(await readdir(root)).toEqual(['target']);
  expect(await readdir(target)).not.toContain('hard');
});

it('an archive with more files than the platform packs is refused', async () => {
  const source = join(root, 'source');
  await mkdir(join(source, 'src'), { recursive: true });
  await writeFile(join(source, 'src/run.sh'), 'echo hello');
  const unpack = (filesMax: number) => {
    const archive = Readable.from(projectLayer(source, () => undefined)).pipe(createGzip());
    return unpackBuild(archive, target, signal, { filesMax });
  };
  await expect(unpack(1)).rejects.toThrow('that the platform makes none of');
  await unpack(2);
});
