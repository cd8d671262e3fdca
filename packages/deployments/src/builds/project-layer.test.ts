import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { Parser, type ReadEntry } from 'tar';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { BuildError } from '../revisions/build-error.ts';
import { PROJECT_LEVELS_MAX } from './project-files.ts';
import { projectLayer } from './project-layer.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'runyard-layer-'));
});
afterAll(() => rm(folder, { recursive: true }));

let made = 0;
async function project(files: Record<string, string>): Promise<string> {
  made += 1;
  const directory = join(folder, String(made));
  await mkdir(directory);
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(directory, name, '..'), { recursive: true });
    await writeFile(join(directory, name), content);
  }
  return directory;
}

const layerOf = (directory: string, notes: string[] = []) =>
  buffer(Readable.from(projectLayer(directory, (line) => notes.push(line))));

/** Reads an archive with an independent parser. */
async function entriesIn(archive: Buffer): Promise<Record<string, ReadEntry>> {
  const entries: Record<string, ReadEntry> = {};
  await new Promise<void>((resolve, reject) => {
    const parser = new Parser({ strict: true });
    parser.on('entry', (entry: ReadEntry) => {
      entries[entry.path] = entry;
      entry.resume();
    });
    parser.on('error', reject);
    parser.on('end', resolve);
    parser.end(archive);
  });
  return entries;
}

it('equal files give the same layer, whenever, by whom and in whatever order they were written', async () => {
  const one = await project({ 'b.js': 'b', 'a/x.js': 'x', 'a/y.js': 'y', 'Z.md': '' });
  const other = await project({ 'a/y.js': 'y', 'Z.md': '', 'a/x.js': 'x', 'b.js': 'b' });
  await utimes(join(other, 'b.js'), 1, 2);
  await chmod(join(other, 'a/x.js'), 0o600);
  const [layer, again] = [await layerOf(one), await layerOf(other)];
  expect(again.equals(layer)).toBe(true);
  // The digest is fixed, because an upgrade of this service must not change layers.
  expect(createHash('sha256').update(layer).digest('hex')).toBe(
    '363e675ea12cc16b80d4847ba0199892ebd9dce9c1d2f52b06ad26c0c01ab058',
  );
  expect(Object.keys(await entriesIn(layer))).toEqual([
    'deps/',
    'deps/project/',
    'deps/project/Z.md',
    'deps/project/a/',
    'deps/project/a/x.js',
    'deps/project/a/y.js',
    'deps/project/b.js',
  ]);
});

it('the files of a layer belong to the user of the pods, who may read and change them, and none runs as another user', async () => {
  const directory = await project({ 'run.sh': '#!/bin/sh', data: '1' });
  await chmod(join(directory, 'run.sh'), 0o4711);
  await chmod(join(directory, 'data'), 0o400);
  const entries = await entriesIn(await layerOf(directory));
  const shown = (name: string) => {
    const { uid, gid, mode, mtime, uname } = entries[`deps/project/${name}`]!;
    return [uid, gid, mode?.toString(8), mtime?.getTime(), uname];
  };
  expect([shown('run.sh'), shown('data'), shown('')]).toEqual([
    [1000, 1000, '755', 0, ''],
    [1000, 1000, '644', 0, ''],
    [1000, 1000, '755', 0, ''],
  ]);
});

it('a layer keeps links as links: those within the project have the same target in the image, and none is followed', async () => {
  const directory = await project({ 'node_modules/.pnpm/a/index.js': 'a', 'src/a.js': '' });
  await symlink('.pnpm/a', join(directory, 'node_modules/a'));
  await symlink(join(directory, 'node_modules'), join(directory, 'src/modules'));
  await symlink('/etc/hostname', join(directory, 'out'));
  await symlink('../../../secret', join(directory, 'src/up'));
  await symlink('loop', join(directory, 'loop'));
  const notes: string[] = [];
  const entries = await entriesIn(await layerOf(directory, notes));
  const target = (name: string) => [entries[`deps/project/${name}`]?.type, entries[`deps/project/${name}`]?.linkpath];
  expect(target('node_modules/a')).toEqual(['SymbolicLink', '.pnpm/a']);
  expect(target('src/modules')).toEqual(['SymbolicLink', '../node_modules']);
  expect(target('out')).toEqual(['SymbolicLink', '/etc/hostname']);
  expect(target('src/up')).toEqual(['SymbolicLink', '../../../secret']);
  expect(target('loop')).toEqual(['SymbolicLink', 'loop']);
  expect(notes.map((line) => line.split(' ')[0])).toEqual(['out', 'src/up']);
});

it('a layer leaves out files that layers cannot contain, and reports them', async () => {
  const directory = await project({ 'a/.wh..wh..opq': '', '.wh.b': '', c: '' });
  const socket = createServer().listen(join(directory, 's'));
  await new Promise((resolve) => socket.once('listening', resolve));
  const notes: string[] = [];
  const entries = await entriesIn(await layerOf(directory, notes));
  socket.close();
  expect(Object.keys(entries)).toEqual(['deps/', 'deps/project/', 'deps/project/a/', 'deps/project/c']);
  expect(notes.map((line) => line.split(' ')[0])).toEqual(['.wh.b', 'a/.wh..wh..opq', 's']);
});

it('a layer keeps names of any length and script', async () => {
  const long = `${'d'.repeat(200)}/${'f'.repeat(200)}`;
  const directory = await project({ [long]: 'x', 'näme 名.js': 'y', "a\nb'c": 'z' });
  await symlink(long, join(directory, 'link'));
  const entries = await entriesIn(await layerOf(directory));
  for (const name of [long, 'näme 名.js', "a\nb'c"]) expect(entries[`deps/project/${name}`]?.size).toBe(1);
  expect(entries['deps/project/link']?.linkpath).toBe(long);
});

it('packing fails with the name of a file that was deleted meanwhile', async () => {
  const directory = await project({ a: 'a', b: 'b' });
  const layer = projectLayer(directory, () => undefined);
  // Three headers are those of two folders and the first file: by now both files have been listed.
  for (let heads = 0; heads < 3; heads += 1) await layer.next();
  await rm(join(directory, 'b'));
  const rest = async () => {
    for await (const _ of layer);
  };
  await expect(rest()).rejects.toThrow(new BuildError('b cannot be put into an image: ENOENT'));
});

it('packing fails with the number of files that a project may have when it has more', async () => {
  const directory = await project({ 'a/x': '', 'a/y': '', b: '' });
  const pack = (filesMax: number) => buffer(Readable.from(projectLayer(directory, () => undefined, { filesMax })));
  await pack(4);
  await expect(pack(3)).rejects.toThrow(new BuildError('The built project has more than 3 files'));
});

it('packing fails where folders are nested beyond all use', async () => {
  const pack = async (levels: number) =>
    buffer(Readable.from(projectLayer(await project({ [`${'a/'.repeat(levels - 1)}x`]: '' }), () => undefined)));
  await pack(PROJECT_LEVELS_MAX);
  await expect(pack(PROJECT_LEVELS_MAX + 1)).rejects.toThrow('more than 100 folders one within the other: a/a/a');
});

it('a folder may have any number of files that a project may have', async () => {
  // A disk in memory makes them in a second.
  const directory = await mkdtemp(join(existsSync('/dev/shm') ? '/dev/shm' : folder, 'runyard-layer-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  await promisify(execFile)('sh', ['-c', 'seq 130000 | xargs touch'], { cwd: directory });
  const layer = projectLayer(directory, () => undefined);
  // By the third header, which is that of the first file, all files have been listed.
  for (let heads = 0; heads < 3; heads += 1) expect(await layer.next()).toMatchObject({ done: false });
  await layer.return(undefined);
}, 60_000);
