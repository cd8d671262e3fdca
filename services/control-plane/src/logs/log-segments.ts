import type { Stats } from 'node:fs';
import { readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { LogType } from '@runyard/contracts';
import { unlessGone } from '../files/unless-gone.ts';

export const LOG_KINDS: readonly LogType[] = LogType.anyOf.map((branch) => branch.const);

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

  /** The file that begins with this entry, whether it is there or not. */
  at: (dataDir: string, owner: LogOwner, firstId: string): LogSegment => ({
    path: join(logSegments.folderOfRevision(dataDir, owner), logSegments.nameOf(owner.kind, firstId)),
    revisionId: owner.revisionId,
    firstId,
  }),

  /** Oldest first. A log nobody has written has none. */
  async list(dataDir: string, owner: LogOwner): Promise<LogSegment[]> {
    const folder = logSegments.folderOfRevision(dataDir, owner);
    const segments: LogSegment[] = [];
    for (const name of await namesIn(folder)) {
      const [, kind, firstId] = NAME.exec(name) ?? [];
      if (kind !== owner.kind || firstId === undefined) continue;
      segments.push(logSegments.at(dataDir, owner, firstId));
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
