import type { ReportedLogEntry } from '@runyard/contracts';
import { timeOfId } from './entry-ids.ts';
import type { StoredEntry } from './log-entry.ts';

/** Returns an entry that another service reports as it is stored. Its time is the one in its id. */
export function toStoredEntry({
  id,
  level,
  message,
  source,
  run_id,
  thread_id,
  graph_id,
  fields,
}: ReportedLogEntry): StoredEntry {
  return {
    id,
    timestamp: new Date(timeOfId(id)).toISOString(),
    source,
    level,
    message,
    ...(run_id !== undefined && { runId: run_id }),
    ...(thread_id !== undefined && { threadId: thread_id }),
    ...(graph_id !== undefined && { graphId: graph_id }),
    ...(fields !== undefined && { fields }),
  };
}
