import type { Stats } from 'node:fs';
import { readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { LogType } from '@runyard/contracts';

/** Whose log it is. */
export interface LogOwner {
  deploymentId: string;
  revisionId: string;
  kind: LogType;
}

/** One file of a log. Its lines are in order; those of another file may lie between them when two processes wrote. */
export interface LogSegment {
  path: string;
  revisionId: string;
  /** Where it begins: no entry of it has a smaller id. */
  firstId: string;
}

const NAME = /^(build|deploy)-([0-9a-f]{8}-[0-9a-f-]{27})\.jsonl$/;

/**
 * Files of logs: `DATA_DIR/logs/<deployment>/<revision>/<kind>-<id>.jsonl`. Each process that writes a log begins files of its
 * own, so that writers need not know of each other.
 */
export const logSegments = {
  folderOf: (dataDir: string, deploymentId: string): string => join(dataDir, 'logs', deploymentId),

  folderOfRevision: (dataDir: string, { deploymentId, revisionId }: Omit<LogOwner, 'kind'>): string =>
    join(logSegments.folderOf(dataDir, deploymentId), revisionId),

  nameOf: (kind: LogType, firstId: string): string => `${kind}-${firstId}.jsonl`,

  /** Oldest first. A log nobody has written has none. */
  async list(dataDir: string, owner: LogOwner): Promise<LogSegment[]> {
    const folder = logSegments.folderOfRevision(dataDir, owner);
    const segments: LogSegment[] = [];
    for (const name of await namesIn(folder)) {
      const [, kind, firstId] = NAME.exec(name) ?? [];
      if (kind !== owner.kind || firstId === undefined) continue;
      segments.push({ path: join(folder, name), revisionId: owner.revisionId, firstId });
    }
    return segments.sort((one, other) => (one.firstId < other.firstId ? -1 : 1));
  },

  /** The ids of the deployments that have a folder. */
  deployments: (dataDir: string): Promise<string[]> => namesIn(join(dataDir, 'logs')),

  /** The ids of the revisions that have a folder. */
  revisionsOf: (dataDir: string, deploymentId: string): Promise<string[]> =>
    namesIn(logSegments.folderOf(dataDir, deploymentId)),

  /** Null when it was removed meanwhile. */
  stats: (segment: LogSegment): Promise<Stats | null> => unlessGone(stat(segment.path)),

  remove: (segment: LogSegment): Promise<unknown> => unlessGone(unlink(segment.path)),
};

async function namesIn(folder: string): Promise<string[]> {
  return (await unlessGone(readdir(folder))) ?? [];
}

/** Files go while others look at them: removed with their deployment, or for their age. A stray file is no folder of anything. */
export async function unlessGone<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}
