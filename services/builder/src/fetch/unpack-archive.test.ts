import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { waitFor } from '@runyard/test-kit';
import { Header } from 'tar';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { unpackArchive } from './unpack-archive.ts';

type Entry = { path: string; type?: string; linkpath?: string; mode?: number; content?: string | Buffer };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'runyard-unpack-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Makes a tar archive of exactly these headers, including ones that no tool writes. */
function tar(entries: Entry[]): Buffer {
  const blocks = entries.flatMap(({ path, type = 'File', linkpath = '', mode = 0o644, content = '' }) => {
    const body = Buffer.from(content);
    const header = new Header({ path, type: type as 'File', linkpath, mode, size: body.length, uid: 4242, gid: 4242 });
    const block = Buffer.alloc(512);
    header.encode(block);
    return [block, body, Buffer.alloc((512 - (body.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

const unpack = (bytes: Buffer, limits = {}) =>
  unpackArchive(Readable.from([bytes]), folder, { signal: new AbortController().signal, limits });
const unpackTar = (entries: Entry[], limits = {}) => unpack(gzipSync(tar(entries)), limits);

it('unpacking creates files and folders of this user, without special modes', async () => {
  await unpackTar([
    { path: 'a/', type: 'Directory', mode: 0o000 },
    { path: 'a/b.txt', content: 'hello', mode: 0o000 },
    { path: 'run.sh', content: '#!', mode: 0o4755 },
  ]);
  expect(await readFile(join(folder, 'a/b.txt'), 'utf8')).toBe('hello');
  const { uid, mode } = await stat(join(folder, 'run.sh'));
  expect({ uid, mode: mode & 0o7777 }).toEqual({ uid: process.getuid?.(), mode: 0o755 & ~process.umask() });
});

it.each<[string, Entry, RegExp]>([
  ['leads out of it', { path: '../outside', content: 'x' }, /"..\/outside" leads out of it/],
  ['leads out of it further down', { path: 'a/../../outside', content: 'x' }, /leads out of it/],
  ['is absolute', { path: '/tmp/outside', content: 'x' }, /leads out of it/],
  ['is absolute on Windows', { path: 'C:\\outside', content: 'x' }, /leads out of it/],
  ['is a symbolic link', { path: 'link', type: 'SymbolicLink', linkpath: '/etc' }, /"link" is a link to "\/etc"/],
  ['is a hard link', { path: 'link', type: 'Link', linkpath: 'a' }, /is a link to "a"/],
  ['is a device', { path: 'device', type: 'CharacterDevice' }, /"device" is neither a file nor a folder/],
  ['is a pipe', { path: 'pipe', type: 'FIFO' }, /neither a file nor a folder/],
])('unpacking refuses an archive with an entry that %s', async (_, entry, reason) => {
  await expect(unpackTar([{ path: 'a', content: 'a' }, entry])).rejects.toThrow(reason);
  expect(await readdir(folder)).not.toContain('link');
});

it('unpacking refuses an archive that is too large unpacked, however small it is packed, and reads no further', async () => {
  let read = 0;
  const bomb = gzipSync(tar([{ path: 'zeros', content: Buffer.alloc(50_000_000) }]));
  const slowly = async function* () {
    for (let at = 0; at < bomb.length; at += 1024) {
      read += 1024;
      yield bomb.subarray(at, at + 1024);
    }
  };
  const { signal } = new AbortController();
  const unpacking = unpackArchive(Readable.from(slowly()), folder, { signal, limits: { bytes: 1_000_000 } });
  await expect(unpacking).rejects.toThrow('larger than 1000000 bytes unpacked');
  expect(read).toBeLessThan(bomb.length);
});

it('unpacking refuses too many files', async () => {
  const many = Array.from({ length: 6 }, (_, index) => ({ path: `file-${index}` }));
  await expect(unpackTar(many, { files: 5 })).rejects.toThrow('more than 5 files');
});

it.each([
  ['no gzip', Buffer.from('nonsense')],
  ['cut gzip', gzipSync(tar([{ path: 'a', content: 'x'.repeat(5000) }])).subarray(0, 60)],
  ['gzip of no archive', gzipSync(Buffer.from('nonsense'.repeat(200)))],
  ['gzip of half an archive', gzipSync(tar([{ path: 'a', content: 'x'.repeat(5000) }]).subarray(0, 1500))],
  ['an empty archive', gzipSync(tar([]))],
])('unpacking refuses %s', async (_, bytes) => {
  await expect(unpack(bytes)).rejects.toThrow(/The archive is refused/);
});

it('an archive whose end comes after its files are on the disk is unpacked', async () => {
  const bytes = gzipSync(tar([{ path: 'a.txt', content: 'hello' }]));
  const isWritten = async () => (await readFile(join(folder, 'a.txt'), 'utf8').catch(() => '')) === 'hello';
  async function* late() {
    yield bytes.subarray(0, -1);
    await waitFor(isWritten, { what: 'the file' });
    // tar does a little more when it has written a file.
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    yield bytes.subarray(-1);
  }
  await unpackArchive(Readable.from(late()), folder, { signal: AbortSignal.timeout(60_000) });
  expect(await readdir(folder)).toEqual(['a.txt']);
});
