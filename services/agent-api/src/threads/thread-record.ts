import type { Thread } from '@runyard/contracts';
import { toWireTime } from '../wire-time.ts';
import { completeMessages } from './message-form.ts';

/** A row of `thread`, with its newest state when that was asked for. */
export interface ThreadRecord {
  threadId: string;
  status: Thread['status'];
  metadata: Record<string, unknown>;
  config: Record<string, unknown>;
  error: Record<string, unknown> | null;
  createdAt: Date;
  updatedAt: Date;
  stateUpdatedAt: Date;
  /** JSON text; null until there is state. */
  values?: Uint8Array | null;
  /** JSON text `{task id: [{id, value}]}`; null when there are none. */
  interrupts?: Uint8Array | null;
}

export function toWireThread(record: ThreadRecord): Thread {
  return {
    thread_id: record.threadId,
    created_at: toWireTime(record.createdAt),
    updated_at: toWireTime(record.updatedAt),
    state_updated_at: toWireTime(record.stateUpdatedAt),
    metadata: record.metadata,
    status: record.status,
    config: record.config,
    values: record.values ? stateValues(record.values) : null,
    interrupts: (record.interrupts ? parseJson(record.interrupts) : {}) as Thread['interrupts'],
    error: record.error,
  };
}

/** The values as a thread shows them: the question of an interrupt has its own field, and messages are complete. */
function stateValues(text: Uint8Array): unknown {
  const values = parseJson(text);
  if (values !== null && typeof values === 'object' && !Array.isArray(values)) {
    delete (values as Record<string, unknown>).__interrupt__;
  }
  return completeMessages(values);
}

function parseJson(text: Uint8Array): unknown {
  return JSON.parse(Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString('utf8'));
}
