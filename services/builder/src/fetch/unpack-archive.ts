import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { BuildError, writeTar } from '@runyard/deployments';
import { type ReadEntry, Unpack } from 'tar';

export interface UnpackLimits {
  /** Bytes of the archive's contents, unpacked. */
  bytes: number;
  files: number;
}

const LIMITS: UnpackLimits = { bytes: 1024 * 1024 * 1024, files: 100_000 };

/** Nested folders. tar itself sets this limit for an archive. */
const DEPTH_MAX = 256;

/**
 * Unpacks a gzipped tar archive into an empty folder. It creates only files and folders of this user inside that
 * folder, and refuses archives that contain anything else or exceed the limits, whatever their headers say.
 *
 * @throws BuildError that names the fault in the archive
 */
export async function unpackArchive(
  archive: Readable,
  folder: string,
  options: { signal: AbortSignal; limits?: Partial<UnpackLimits> },
): Promise<void> {
  const limits = { ...LIMITS, ...options.limits };
  let files = 0;
  let fault: BuildError | undefined;
  const refuse = (reason: string) => {
    fault ??= new BuildError(`The archive is refused: ${reason}.`);
  };
  const unpack = new Unpack({
    cwd: folder,
    preserveOwner: false,
    strict: true,
    maxDepth: DEPTH_MAX,
    filter: (path, entry) => {
      const found = entry as ReadEntry;
      files += 1;
      const reason = files > limits.files ? `it holds more than ${limits.files} files` : findFault(path, found);
      if (reason !== undefined) refuse(reason);
      // No unpacked file may run as another user (setuid) or be inaccessible to its owner.
      found.mode = found.type === 'Directory' || (found.mode ?? 0) & 0o100 ? 0o755 : 0o644;
      return fault === undefined;
    },
  });
  const bounded = async function* (chunks: AsyncIterable<Buffer>) {
    let bytes = 0;
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > limits.bytes) refuse(`it is larger than ${limits.bytes} bytes unpacked`);
      if (fault) throw fault;
      yield chunk;
    }
  };
  try {
    const { signal } = options;
    await pipeline(archive, createGunzip(), bounded, (bytes) => writeTar(unpack, bytes, signal), { signal });
  } catch (error) {
    options.signal.throwIfAborted();
    if (!fault && isArchiveError(error)) refuse((error as Error).message);
    throw fault ?? error;
  }
  if (fault) throw fault;
  if (files === 0) throw new BuildError('The archive is refused: it is empty.');
}

function findFault(path: string, { type, linkpath }: ReadEntry): string | undefined {
  const name = JSON.stringify(path.slice(0, 200));
  if (type === 'SymbolicLink' || type === 'Link') return `${name} is a link to ${JSON.stringify(linkpath ?? '')}`;
  if (type !== 'File' && type !== 'OldFile' && type !== 'ContiguousFile' && type !== 'Directory') {
    return `${name} is neither a file nor a folder`;
  }
  const leadsOut = /^[/\\]|^[A-Za-z]:|\0/.test(path) || path.split(/[/\\]/).includes('..');
  return leadsOut ? `${name} leads out of it` : undefined;
}

/** Returns whether zlib or tar failed, as opposed to the disk or the network that the archive comes over. */
function isArchiveError(error: unknown): boolean {
  const { code = '' } = error as NodeJS.ErrnoException & { tarCode?: string };
  return code.startsWith('Z_') || code.startsWith('TAR_') || 'tarCode' in (error as object);
}
