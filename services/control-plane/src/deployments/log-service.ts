import type { LogEntry, LogPage, LogRequest, LogType } from '@runyard/contracts';
import { isUuid } from '@runyard/contracts';
import {
  type FoundEntries,
  type FoundEntry,
  type LogQuery,
  logSegments,
  messageOf,
  parseRequestTime,
  readLogs,
} from '@runyard/revision-logs';
import { InvalidFieldError, type Principal, tenantOf } from '@runyard/service-kit';
import type { Database } from '../database/database.ts';
import { deploymentStore } from '../revisions/deployment-store.ts';

export interface LogSelection {
  deploymentId: string;
  /** Undefined: the logs of all revisions. */
  revisionId?: string;
  kind: LogType;
}

const LIMIT = 50;

/** Reads logs for callers, of deployments that they may read. */
export class LogService {
  readonly #database: Database;
  readonly #dataDir: string;

  constructor(options: { database: Database; dataDir: string }) {
    this.#database = options.database;
    this.#dataDir = options.dataDir;
  }

  async read(
    caller: Principal,
    selection: LogSelection,
    request: LogRequest & { run_id?: string },
    place: 'body' | 'query',
  ): Promise<LogPage> {
    const { deploymentId, revisionId, kind } = selection;
    const [tenant, { prisma }] = [tenantOf(caller), this.#database];
    await deploymentStore.get(prisma, tenant, deploymentId);
    if (revisionId !== undefined) await deploymentStore.getRevision(prisma, tenant, deploymentId, revisionId);
    const revisionIds = revisionId ? [revisionId] : await logSegments.revisionsOf(this.#dataDir, deploymentId);
    const query = queryOf(request, place);
    const segments = await Promise.all(
      revisionIds.map((each) => logSegments.list(this.#dataDir, { deploymentId, revisionId: each, kind })),
    );
    const found = await readLogs(segments.flat(), query);
    return { logs: found.entries.map(render), next_offset: nextOffset(found, query) };
  }
}

function queryOf(request: LogRequest & { run_id?: string }, place: 'body' | 'query'): LogQuery {
  const { order, limit, offset, level, query, start_time, end_time, run_id } = request;
  return {
    order: order ?? 'asc',
    limit: limit ?? LIMIT,
    level: level ?? undefined,
    // An empty filter means no filter: clients send an empty text for a filter that is not set.
    query: query || undefined,
    runId: run_id?.toLowerCase(),
    ...(offset && { after: positionOf(offset, place) }),
    ...(start_time && { startMs: parseRequestTime(start_time, [place, 'start_time']) }),
    ...(end_time && { endMs: parseRequestTime(end_time, [place, 'end_time']) }),
  };
}

/** An offset is the id of the last entry of a page, encoded so that nobody computes with it. */
function positionOf(offset: string, place: 'body' | 'query'): string {
  const id = Buffer.from(offset, 'base64url').toString('latin1').toLowerCase();
  if (!isUuid(id)) throw new InvalidFieldError([place, 'offset'], 'Value must be the next_offset of an earlier page');
  return id;
}

/** In ascending order, the end of a log has an offset too: lines that are added later follow it. */
function nextOffset({ entries, lastId, isEnd }: FoundEntries, { order }: LogQuery): string | null {
  const hasMore = !isEnd || (order === 'asc' && entries.length > 0);
  return hasMore && lastId !== null ? Buffer.from(lastId, 'latin1').toString('base64url') : null;
}

function render(entry: FoundEntry): LogEntry {
  return {
    id: entry.id,
    timestamp: Date.parse(entry.timestamp),
    level: entry.level,
    message: messageOf(entry),
    source: entry.source,
    revision_id: entry.revisionId,
    ...(entry.runId && { run_id: entry.runId }),
    ...(entry.threadId && { thread_id: entry.threadId }),
    ...(entry.graphId && { graph_id: entry.graphId }),
    ...(entry.fields && { fields: entry.fields }),
  };
}
