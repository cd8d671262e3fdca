import { constants, type Dirent } from 'node:fs';
import { type FileHandle, open, opendir, readlink, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { Header, type HeaderData, Pax } from 'tar';
import { BuildError } from '../revisions/build-error.ts';
import { PROJECT_FILES_MAX, PROJECT_LEVELS_MAX } from './project-files.ts';
import { PROJECT_FOLDER } from './project-folder.ts';

/** The user `node` of Node's images. Projects run as this user and may write beside their code. */
const OWNER = 1000;
/** Files have a fixed time, so that equal projects give equal layers. */
const WRITTEN_AT = new Date(0);
const BLOCK_BYTES = 512;
/** Larger files are read in pieces. */
const WHOLE_BYTES = 1024 * 1024;
/** Names that are read of a folder at once. */
const NAMES_AT_ONCE = 1024;
/** The prefix of names by which a layer deletes files of the layers below. */
const WHITEOUT = '.wh.';

/**
 * Packs the folder of a project as a tar archive for an image layer. Equal files give equal bytes, whatever the time
 * and order in which they were written. Links are kept and never followed. Everything but files, folders and links is
 * left out.
 *
 * @param note gets a sentence about each entry that the image lacks or changes
 * @throws BuildError when a file cannot be read, or changes meanwhile, or there are more than `filesMax`,
 *   or folders within folders beyond `PROJECT_LEVELS_MAX`
 */
export async function* projectLayer(
  directory: string,
  note: (line: string) => void,
  { filesMax = PROJECT_FILES_MAX }: { filesMax?: number } = {},
): AsyncGenerator<Buffer> {
  const roots = [directory, await readOrFail('', () => realpath(directory))];
  const at = PROJECT_FOLDER.slice(1);
  yield headerOf({ path: `${dirname(at)}/`, type: 'Directory', mode: 0o755, uid: 0, gid: 0 });
  yield headerOf({ path: `${at}/`, type: 'Directory', mode: 0o755 });
  for await (const { path, item } of entriesOf(directory, filesMax)) {
    const place = join(at, path);
    if (item.name.startsWith(WHITEOUT)) {
      note(`${path} is left out: images have no files of such a name`);
    } else if (item.isDirectory()) {
      yield headerOf({ path: `${place}/`, type: 'Directory', mode: 0o755 });
    } else if (item.isSymbolicLink()) {
      const target = await readOrFail(path, () => readlink(join(directory, path)));
      yield headerOf({ path: place, type: 'SymbolicLink', mode: 0o777, linkpath: linkFrom(path, target, roots, note) });
    } else if (item.isFile()) {
      yield* fileAt(directory, path, place);
    } else {
      note(`${path} is left out: it is neither a file nor a folder`);
    }
  }
  yield Buffer.alloc(2 * BLOCK_BYTES);
}

/**
 * Yields all entries below the folder, parents first. The order is by code units and does not depend on the machine's
 * locale.
 */
async function* entriesOf(directory: string, filesMax: number): AsyncGenerator<{ path: string; item: Dirent }> {
  const waiting: { path: string; item: Dirent }[] = [];
  let files = 0;
  const look = async (folder: string, levels: number) => {
    if (levels > PROJECT_LEVELS_MAX) {
      throw new BuildError(
        `The built project has more than ${PROJECT_LEVELS_MAX} folders one within the other: ${folder}`,
      );
    }
    const found: Dirent[] = [];
    const names = await readOrFail(folder, () => opendir(join(directory, folder), { bufferSize: NAMES_AT_ONCE }));
    for await (const item of names) {
      files += 1;
      if (files > filesMax) throw new BuildError(`The built project has more than ${filesMax} files`);
      found.push(item);
    }
    // `pop` takes the first entry from the end.
    found.sort((one, other) => (one.name < other.name ? 1 : -1));
    for (const item of found) waiting.push({ path: join(folder, item.name), item });
  };
  await look('', 1);
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    yield next;
    if (next.item.isDirectory() && !next.item.name.startsWith(WHITEOUT))
      await look(next.path, next.path.split('/').length + 1);
  }
}

/**
 * Returns the target of a link in the image. Absolute links within the project become relative, because the project is
 * elsewhere in the image.
 */
function linkFrom(path: string, target: string, roots: string[], note: (line: string) => void): string {
  const inside = roots
    .map((root) => relative(root, resolve(root, dirname(path), target)))
    .find((place) => place !== '..' && !place.startsWith('../'));
  if (inside === undefined) note(`${path} leads out of the project, to what may not be in its image: ${target}`);
  return inside !== undefined && isAbsolute(target) ? relative(dirname(path), inside) || '.' : target;
}

async function* fileAt(directory: string, path: string, place: string): AsyncGenerator<Buffer> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW;
  const handle = await readOrFail(path, () => open(join(directory, path), flags));
  try {
    const { size, mode } = await handle.stat();
    // No file in the image may run as another user (setuid).
    yield headerOf({ path: place, type: 'File', mode: mode & 0o100 ? 0o755 : 0o644, size });
    let bytes = 0;
    for await (const chunk of contentOf(handle, size)) {
      bytes += chunk.length;
      yield chunk;
    }
    if (bytes !== size) throw new BuildError(`${path} has changed while it was put into an image`);
    if (size % BLOCK_BYTES > 0) yield Buffer.alloc(BLOCK_BYTES - (size % BLOCK_BYTES));
  } finally {
    await handle.close();
  }
}

async function* contentOf(handle: FileHandle, size: number): AsyncGenerator<Buffer> {
  if (size > WHOLE_BYTES) yield* handle.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>;
  else if (size > 0) yield await handle.readFile();
}

/** Returns an entry's header, preceded by an extended header when a name is too long. */
function headerOf(described: HeaderData & { path: string }): Buffer {
  const data = { uid: OWNER, gid: OWNER, size: 0, mtime: WRITTEN_AT, ...described };
  const header = new Header(data);
  const isWhole = !header.encode();
  if (isWhole) return header.block!;
  const { path, linkpath } = data;
  return Buffer.concat([new Pax({ path, ...(linkpath !== undefined && { linkpath }) }).encode(), header.block!]);
}

/** @throws BuildError with the path in place of the file system's error */
async function readOrFail<Read>(path: string, read: () => Promise<Read>): Promise<Read> {
  try {
    return await read();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new BuildError(`${path || 'The project'} cannot be put into an image: ${code}`, { cause: error });
  }
}
