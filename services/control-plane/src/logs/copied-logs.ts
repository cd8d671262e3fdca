import { mkdir, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { timeOfId } from './entry-ids.ts';
import type { StoredEntry } from './log-entry.ts';
import { keepWithinLimit, SEGMENT_LIMIT_BYTES } from './log-limits.ts';
import { type LogOwner, logSegments } from './log-segments.ts';
import { lastIdOf } from './segment-lines.ts';

/** Lines of one file of a log that is written elsewhere. */
export interface CopyPart {
  /** The file's first line. */
  firstId: string;
  /** The line before these; null: there is none. */
  after: string | null;
  /** Their ids rise. */
  entries: StoredEntry[];
}

/** The file has all the lines it may have, or its log has newer ones in its place. */
export class FileFull extends Error {
  override readonly name = 'FileFull';
}

/**
 * Copies of the log files of a data plane elsewhere, line for line under the same names, so that a copy itself tells how far it
 * goes: what is added twice, or with a gap before it, is not taken. Whoever adds to a copy sees to it that nobody else does.
 */
export class CopiedLogs {
  readonly #dataDir: string;

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  /** Adds lines that follow the last one of the copy. @returns the copy's last line now; null: it has none @throws FileFull */
  async append(owner: LogOwner, { firstId, after, entries }: CopyPart): Promise<string | null> {
    const segment = logSegments.at(this.#dataDir, owner, firstId);
    const lastId = await lastIdOf(segment);
    const newest = entries.at(-1);
    if (lastId !== after || !newest) return lastId;
    await mkdir(dirname(segment.path), { recursive: true, mode: 0o700 });
    const file = await open(segment.path, 'a+', 0o600);
    try {
      const { size } = await file.stat();
      if (size > SEGMENT_LIMIT_BYTES) throw new FileFull(`the file ${firstId} of the log is full`);
      const lines = entries.map((entry) => `${JSON.stringify(entry)}\n`);
      // A half line that a process left when it was killed is passed over by readers, once it is closed.
      if (size > 0 && (await lastByte(file, size)) !== 0x0a) lines.unshift('\n');
      await file.appendFile(lines.join(''));
      // It is as old as its lines, however late they came: by its age it is found, and removed.
      const writtenAt = new Date(timeOfId(newest.id));
      await file.utimes(writtenAt, writtenAt);
    } finally {
      await file.close();
    }
    if (lastId === null && (await keepWithinLimit(this.#dataDir, owner)).includes(segment.path)) {
      throw new FileFull(`the log has no room for its file ${firstId} any more`);
    }
    return newest.id;
  }

  async removeDeployment(deploymentId: string): Promise<void> {
    await rm(logSegments.folderOf(this.#dataDir, deploymentId), { recursive: true, force: true });
  }
}

async function lastByte(file: Awaited<ReturnType<typeof open>>, size: number): Promise<number | undefined> {
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0];
}
