import { isUuid, type LogEntry, type LogPage, type LogRequest } from '@runyard/contracts';
import { InvalidFieldError } from '@runyard/service-kit';
import { messageOf } from './log-entry.ts';
import type { FoundEntries, FoundEntry, LogQuery } from './read-logs.ts';
import { parseRequestTime } from './request-time.ts';

/** Entries of a page whose size the caller does not say. */
const LIMIT = 50;

/** @throws InvalidFieldError */
export function logQueryOf(request: LogRequest & { run_id?: string }, place: 'body' | 'query'): LogQuery {
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

/** Returns the page of what was found, as callers get it. */
export function logPageOf(found: FoundEntries, query: LogQuery): LogPage {
  return { logs: found.entries.map(render), next_offset: nextOffset(found, query) };
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
