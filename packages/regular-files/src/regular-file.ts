/**
 * Reads files of projects, which services read with rights of their own. Whoever makes a project chooses what a path is:
 * a pipe that nobody writes to holds a thread for ever, and a device without an end takes all memory.
 */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/** The file is no regular one, or larger than is wanted. */
export class UnusableFileError extends Error {
  override readonly name = 'UnusableFileError';
}

/** Bytes of a file that people write. */
const WRITTEN_BYTES_MAX = 4 * 1024 * 1024;

/**
 * Returns the text of a file; links are followed.
 *
 * @throws UnusableFileError; the system's error, with its `code`, where it cannot be opened
 */
export async function readRegularFile(path: string, maxBytes = WRITTEN_BYTES_MAX): Promise<string> {
  // A pipe is opened without waiting for whoever writes to it.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const found = await file.stat();
    if (!found.isFile()) throw new UnusableFileError(`${path} is no regular file`);
    const { size } = found;
    if (size > maxBytes) throw new UnusableFileError(`${path} has more than ${maxBytes} bytes`);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}
