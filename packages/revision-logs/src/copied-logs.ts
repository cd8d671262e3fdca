import { mkdir, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { timeOfId } from './entry-ids.ts';
import type { StoredEntry } from './log-entry.ts';
import { keepWithinLimit, SEGMENT_LIMIT_BYTES } from './log-limits.ts';
import { type LogOwner, logSegments } from './log-segments.ts';
import { lastIdOf } from './segment-lines.ts';

/** Lines of one file of a remote data plane's log. */
export interface CopyPart {
  /** The id of the file's first line. */
  firstId: string;
  /** The id of the line before these; null when these are the first. */
  after: string | null;
  /** In ascending order of their ids. */
  entries: StoredEntry[];
}

/** The file is full, or was removed because its log has newer files. */
export class LogFileFullError extends Error {
  override readonly name = 'LogFileFullError';
}

/**
 * Copies the log files of remote data planes, line by line under the same names. The copy itself says how far it goes:
 * `append` ignores lines that were added before or that would leave a gap. The caller has to prevent concurrent appends
 * to one copy.
 */
export class CopiedLogs {
  readonly #dataDir: string;

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  /**
   * Appends lines that follow the copy's last line.
   *
   * @returns the id of the copy's last line; null without lines
   * @throws LogFileFullError
   */
  async append(owner: LogOwner, { firstId, after, entries }: CopyPart): Promise<string | null> {
    const segment = logSegments.at(this.#dataDir, owner, firstId);
    const lastId = await lastIdOf(segment);
    const newest = entries.at(-1);
    if (lastId !== after || !newest) return lastId;
    await mkdir(dirname(segment.path), { recursive: true, mode: 0o700 });
    const file = await open(segment.path, 'a+', 0o600);
    try {
      const { size } = await file.stat();
      if (size > SEGMENT_LIMIT_BYTES) throw new LogFileFullError(`the file ${firstId} of the log is full`);
      const lines = entries.map((entry) => `${JSON.stringify(entry)}\n`);
      // Closes a half line of a killed process; readers then skip it.
      if (size > 0 && (await lastByte(file, size)) !== 0x0a) lines.unshift('\n');
      await file.appendFile(lines.join(''));
      // The file gets the age of its lines, however late they came, because searches and retention go by that age.
      const writtenAt = new Date(timeOfId(newest.id));
      await file.utimes(writtenAt, writtenAt);
    } finally {
      await file.close();
    }
    if (lastId === null && (await keepWithinLimit(this.#dataDir, owner)).includes(segment.path)) {
      throw new LogFileFullError(`the log has no room for its file ${firstId} any more`);
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
