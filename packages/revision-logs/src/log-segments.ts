import type { Stats } from 'node:fs';
import { readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { LogType } from '@runyard/contracts';
import { ignoreMissing } from './ignore-missing.ts';

export const LOG_KINDS: readonly LogType[] = LogType.anyOf.map((branch) => branch.const);

/** Identifies a log. */
export interface LogOwner {
  deploymentId: string;
  revisionId: string;
  kind: LogType;
}

/**
 * One file of a log. Its lines are in order. Lines of other files may lie between them when several processes wrote.
 */
export interface LogSegment {
  path: string;
  revisionId: string;
  /** The file's first id: it has no smaller one. */
  firstId: string;
}

const NAME = /^(build|deploy)-([0-9a-f]{8}-[0-9a-f-]{27})\.jsonl$/;

/**
 * Names and lists log files: `DATA_DIR/logs/<deployment>/<revision>/<kind>-<id>.jsonl`. Each process that writes a log
 * creates files of its own, so that writers need no coordination.
 */
export const logSegments = {
  folderOf: (dataDir: string, deploymentId: string): string => join(dataDir, 'logs', deploymentId),

  folderOfRevision: (dataDir: string, { deploymentId, revisionId }: Omit<LogOwner, 'kind'>): string =>
    join(logSegments.folderOf(dataDir, deploymentId), revisionId),

  nameOf: (kind: LogType, firstId: string): string => `${kind}-${firstId}.jsonl`,

  /** Describes the file that begins with this entry; the file need not exist. */
  at: (dataDir: string, owner: LogOwner, firstId: string): LogSegment => ({
    path: join(logSegments.folderOfRevision(dataDir, owner), logSegments.nameOf(owner.kind, firstId)),
    revisionId: owner.revisionId,
    firstId,
  }),

  /** Lists a log's files, the oldest first. A log without lines has none. */
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

  /** Returns the ids of the deployments that have a folder. */
  deployments: (dataDir: string): Promise<string[]> => namesIn(join(dataDir, 'logs')),

  /** Returns the ids of the revisions that have a folder. */
  revisionsOf: (dataDir: string, deploymentId: string): Promise<string[]> =>
    namesIn(logSegments.folderOf(dataDir, deploymentId)),

  /** Returns null when the file was removed meanwhile. */
  stats: (segment: LogSegment): Promise<Stats | null> => ignoreMissing(stat(segment.path)),

  remove: (segment: LogSegment): Promise<unknown> => ignoreMissing(unlink(segment.path)),
};

async function namesIn(folder: string): Promise<string[]> {
  return (await ignoreMissing(readdir(folder))) ?? [];
}
