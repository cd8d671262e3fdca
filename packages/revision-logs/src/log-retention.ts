import { readdir, rmdir } from 'node:fs/promises';
import { ignoreMissing } from './ignore-missing.ts';
import { LOG_KINDS, type LogSegment, logSegments } from './log-segments.ts';

export interface LogRetentionOptions {
  dataDir: string;
  retentionDays: number;
  bytesPerDeploymentMax: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;

interface KeptSegment extends LogSegment {
  bytes: number;
  /** The time of its newest line, in milliseconds since 1970. */
  writtenMs: number;
  /** True when it is the newest file of its log, which a process may be writing. */
  isNewest: boolean;
}

/**
 * Removes log files after the retention period, and the oldest files of a deployment that has too many. Any number of
 * processes may do so at once.
 */
export class LogRetention {
  readonly #options: LogRetentionOptions;

  constructor(options: LogRetentionOptions) {
    this.#options = options;
  }

  async sweep(now = Date.now()): Promise<void> {
    const { dataDir } = this.#options;
    for (const deploymentId of await logSegments.deployments(dataDir)) {
      const revisionIds = await logSegments.revisionsOf(dataDir, deploymentId);
      await this.#removeOld(await this.#segmentsOf(deploymentId, revisionIds), now);
      for (const revisionId of revisionIds) {
        await removeIfEmpty(logSegments.folderOfRevision(dataDir, { deploymentId, revisionId }));
      }
    }
  }

  async #segmentsOf(deploymentId: string, revisionIds: string[]): Promise<KeptSegment[]> {
    const kept: KeptSegment[] = [];
    for (const revisionId of revisionIds) {
      for (const kind of LOG_KINDS) {
        const segments = await logSegments.list(this.#options.dataDir, { deploymentId, revisionId, kind });
        for (const segment of segments) {
          const stats = await logSegments.stats(segment);
          if (!stats) continue;
          kept.push({ ...segment, bytes: stats.size, writtenMs: stats.mtimeMs, isNewest: segment === segments.at(-1) });
        }
      }
    }
    return kept;
  }

  async #removeOld(segments: KeptSegment[], now: number): Promise<void> {
    const { retentionDays, bytesPerDeploymentMax } = this.#options;
    let bytes = 0;
    for (const segment of segments.sort((one, other) => other.writtenMs - one.writtenMs)) {
      const isOld = now - segment.writtenMs > retentionDays * DAY_MS;
      bytes += segment.bytes;
      if (isOld || (bytes > bytesPerDeploymentMax && !segment.isNewest)) await logSegments.remove(segment);
    }
  }
}

async function removeIfEmpty(folder: string): Promise<void> {
  if ((await ignoreMissing(readdir(folder)))?.length === 0) await rmdir(folder).catch(() => undefined); // A writer may have filled it.
}
