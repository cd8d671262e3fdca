import { setTimeout as pause } from 'node:timers/promises';
import type { ReportedLogEntry } from '@runyard/contracts';
import {
  ID_LENGTH_MAX,
  LOG_KINDS,
  type LogOwner,
  type LogSegment,
  lastIdOf,
  linesFrom,
  logSegments,
  type StoredEntry,
} from '@runyard/revision-logs';
import { type Logger, WakeableTimer } from '@runyard/service-kit';
import { type ControlPlaneClient, ControlPlaneRefusedError } from './control-plane-client.ts';
import type { ControlPlaneLink } from './control-plane-link.ts';

export interface ForwardedLogsOptions {
  dataDir: string;
  client: Pick<ControlPlaneClient, 'reportLogs'>;
  link: Pick<ControlPlaneLink, 'sendUntilAccepted'>;
  logger: Logger;
}

/** Bytes of one request, which are in memory until the platform has accepted them. */
const BATCH_BYTES = 256 * 1024;
/** Milliseconds in which lines are collected for one request. */
const GATHER_MS = 200;
/** Milliseconds without attempts for a log whose files cannot be read. */
const BROKEN_MS = 5_000;
/** Statuses of requests that the platform will never accept. */
const REJECTED_STATUSES = [400, 413, 422];

/** The platform's progress in a file. */
interface Progress {
  /** The id of the last line that the platform has; null without any. */
  lastId: string | null;
  /** The position after which its next lines are searched. */
  position: number;
}

type Report = { kind: 'known'; lastId: string | null } | { kind: 'refused' } | { kind: 'gone' };

/**
 * Forwards the logs of revisions to the control plane. The log files are the queue: lines stay in them for the
 * retention period, whether or not the control plane can be reached. The platform itself reports its progress in each
 * file, so that nothing is repeated or lost after a broken connection or a restart on either side.
 */
export class ForwardedLogs {
  readonly #options: ForwardedLogsOptions;
  /** Logs that may have new lines. The log that had its turn last is at the end. */
  readonly #waiting = new Map<string, LogOwner>();
  /** Progress by log and file. */
  readonly #progress = new Map<string, Map<string, Progress>>();
  readonly #stopping = new AbortController();
  readonly #waitingForLines = new WakeableTimer();
  /** Wait for the moment when no line waits. */
  readonly #onIdle: (() => void)[] = [];
  #working: Promise<void> = Promise.resolve();

  constructor(options: ForwardedLogsOptions) {
    this.#options = options;
  }

  /** Starts with all existing logs. */
  start(): void {
    this.#working = this.#work().catch((error: unknown) => {
      if (!this.#stopping.signal.aborted) this.#warn(error);
    });
  }

  /** Resolves when nothing is sent any more. The link has to abort the current request. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('stopped'));
    this.#waitingForLines.wake();
    await this.#working;
  }

  /** Resolves when the platform has all lines, or after `limitMs`. */
  async flush(limitMs: number): Promise<void> {
    const enough = new AbortController();
    const sent = new Promise<void>((resolve) => this.#onIdle.push(resolve));
    this.#waitingForLines.wake();
    await Promise.race([sent, pause(limitMs, undefined, { signal: enough.signal })]);
    enough.abort();
  }

  /** Has to be called when lines of the log have reached their file. */
  notifyWritten(owner: LogOwner): void {
    this.#waiting.set(keyOf(owner), owner);
    this.#waitingForLines.wake();
  }

  async #work(): Promise<void> {
    const { signal } = this.#stopping;
    await this.#findAll().catch((error: unknown) => this.#warn(error));
    while (!signal.aborted) {
      const [next] = this.#waiting;
      if (!next) {
        for (const resolve of this.#onIdle.splice(0)) resolve();
        await this.#waitingForLines.wait();
        await pause(GATHER_MS, undefined, { signal });
        continue;
      }
      const [key, owner] = next;
      this.#waiting.delete(key);
      try {
        if (await this.#sendNext(key, owner)) this.#waiting.set(key, owner);
      } catch (error) {
        signal.throwIfAborted();
        this.#warn(error, owner);
        this.#waiting.set(key, owner);
        await pause(BROKEN_MS, undefined, { signal });
      }
    }
  }

  async #findAll(): Promise<void> {
    const { dataDir } = this.#options;
    for (const deploymentId of await logSegments.deployments(dataDir)) {
      for (const revisionId of await logSegments.revisionsOf(dataDir, deploymentId)) {
        for (const kind of LOG_KINDS) this.notifyWritten({ deploymentId, revisionId, kind });
      }
    }
  }

  /** Sends one batch of the log's oldest file with new lines. @returns whether there may be more */
  async #sendNext(key: string, owner: LogOwner): Promise<boolean> {
    const segments = await logSegments.list(this.#options.dataDir, owner);
    const before = this.#progress.get(key);
    // The progress of deleted files is dropped.
    const places = new Map<string, Progress>();
    this.#progress.set(key, places);
    for (const { path } of segments) {
      const place = before?.get(path);
      if (place) places.set(path, place);
    }
    for (const segment of segments) {
      const place = places.get(segment.path) ?? (await this.#requestProgress(owner, segment));
      const size = (await logSegments.stats(segment))?.size ?? 0;
      const moved = place && size > place.position ? await this.#sendBatch(owner, segment, place) : place;
      if (!moved) break; // The platform has deleted the revision.
      places.set(segment.path, moved);
      // A last line without a line feed waits until it has one.
      if (moved.position !== place?.position || moved.lastId !== place.lastId) return true;
    }
    if (places.size < segments.length || segments.length === 0) this.#progress.delete(key);
    return false;
  }

  async #requestProgress(owner: LogOwner, segment: LogSegment): Promise<Progress | null> {
    const size = (await logSegments.stats(segment))?.size ?? 0;
    const report = await this.#report(owner, segment, { after: null, entries: [] });
    if (report.kind !== 'known') return report.kind === 'gone' ? null : { lastId: null, position: size };
    const { lastId } = report;
    const isWhole = lastId !== null && lastId === (await lastIdOf(segment));
    return { lastId, position: isWhole ? size : 0 };
  }

  async #sendBatch(owner: LogOwner, segment: LogSegment, { lastId, position }: Progress): Promise<Progress | null> {
    const read = await linesFrom(segment, position, BATCH_BYTES);
    const lines = read.lines.filter(({ id }) => lastId === null || id > lastId);
    const entries = lines.flatMap(({ text }) => entryOf(text));
    const last = entries.at(-1);
    const passed = { lastId, position: read.position };
    if (!last) return passed;
    const report = await this.#report(owner, segment, { after: lastId, entries });
    if (report.kind !== 'known') return report.kind === 'gone' ? null : passed;
    if (report.lastId === last.id) return { ...passed, lastId: last.id };
    // The platform's progress differs from the expected one, so the next lines are searched from the beginning.
    await pause(GATHER_MS, undefined, { signal: this.#stopping.signal });
    return { lastId: report.lastId, position: 0 };
  }

  async #report(
    { revisionId, kind }: LogOwner,
    { firstId }: LogSegment,
    part: { after: string | null; entries: ReportedLogEntry[] },
  ): Promise<Report> {
    const { client, link } = this.#options;
    const lines = { revision_id: revisionId, type: kind, first_id: firstId, ...part };
    try {
      return await link.sendUntilAccepted(async (epoch, signal): Promise<Report> => {
        try {
          return { kind: 'known', lastId: (await client.reportLogs({ epoch, ...lines }, signal)).last_id };
        } catch (error) {
          if (!(error instanceof ControlPlaneRefusedError) || !REJECTED_STATUSES.includes(error.status)) throw error;
          this.#warn(error, { revisionId, lines: part.entries.length });
          return { kind: 'refused' };
        }
      });
    } catch (error) {
      if (error instanceof ControlPlaneRefusedError && error.status === 404) return { kind: 'gone' };
      throw error;
    }
  }

  #warn(error: unknown, about: object = {}): void {
    this.#options.logger.warn('log lines not sent to the platform', { ...about, error });
  }
}

const keyOf = ({ revisionId, kind }: LogOwner) => `${kind}/${revisionId}`;

/** An older release stored ids of any length. A longer one must not cost the lines around it. */
const isShort = (id: string | undefined): id is string => id !== undefined && id.length <= ID_LENGTH_MAX;

/** Returns nothing for a line that was cut when the machine stopped. */
function entryOf(text: string): ReportedLogEntry[] {
  try {
    const { id, level, message, source, runId, threadId, graphId, fields } = JSON.parse(text) as StoredEntry;
    const run = {
      ...(isShort(runId) && { run_id: runId }),
      ...(isShort(threadId) && { thread_id: threadId }),
      ...(isShort(graphId) && { graph_id: graphId }),
    };
    return [{ id, level, message, source, ...run, ...(fields !== undefined && { fields }) }];
  } catch {
    return [];
  }
}
