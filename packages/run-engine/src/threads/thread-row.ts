import { isoTime } from '@runyard/database';
import type { ThreadRecord } from './types.ts';

const TIMES = ['created_at', 'updated_at', 'state_updated_at'].map((column) => `${isoTime(column)} AS ${column}`);

export const THREAD_COLUMNS = `thread_id, status, metadata, config, error, ${TIMES.join(', ')}`;

export interface ThreadRow {
  thread_id: string;
  status: ThreadRecord['status'];
  metadata: Record<string, unknown>;
  config: Record<string, unknown>;
  error: ThreadRecord['error'];
  created_at: string;
  updated_at: string;
  state_updated_at: string;
}

export function threadOfRow(row: ThreadRow): ThreadRecord {
  return {
    threadId: row.thread_id,
    status: row.status,
    metadata: row.metadata,
    config: row.config,
    error: row.error,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    stateUpdatedAt: row.state_updated_at,
  };
}
