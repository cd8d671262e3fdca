import type { Thread, ThreadTtlInfo } from '@runyard/contracts';
import { type EncryptionError, undecryptableValue } from '@runyard/encryption';
import { completeMessages } from './message-form.ts';
import { parseStoredJson } from './parse-stored-json.ts';

interface ThreadExpiry {
  ttlStrategy: NonNullable<ThreadTtlInfo['strategy']> | null;
  ttlMinutes: number | null;
  expiresAt: string | null;
}

/** A row of `thread`, with its newest state when that was asked for. Times are as on the wire, to the microsecond. */
export interface StoredThread extends ThreadExpiry {
  threadId: string;
  status: Thread['status'];
  metadata: Record<string, unknown>;
  config: Record<string, unknown>;
  error: object | null;
  createdAt: string;
  updatedAt: string;
  stateUpdatedAt: string;
  /** JSON text; null until there is state. */
  values?: Uint8Array | null;
  /** JSON text `{task id: [{id, value}]}`; null when there are none. */
  interrupts?: Uint8Array | null;
  /** Why there are neither values nor interrupts: they cannot be decrypted here. */
  fault?: EncryptionError;
}

export function toWireThread(record: Omit<StoredThread, keyof ThreadExpiry>): Thread {
  return {
    thread_id: record.threadId,
    created_at: record.createdAt,
    updated_at: record.updatedAt,
    state_updated_at: record.stateUpdatedAt,
    metadata: record.metadata,
    status: record.status,
    config: record.config,
    values: shownValues(record),
    interrupts: (record.interrupts ? parseStoredJson(record.interrupts) : {}) as Thread['interrupts'],
    error: record.error as Thread['error'],
  };
}

/** Returns undefined for a thread that is kept for good. */
export function ttlOf({ ttlStrategy, ttlMinutes, expiresAt }: ThreadExpiry): ThreadTtlInfo | undefined {
  if (ttlStrategy === null || ttlMinutes === null) return undefined;
  return { strategy: ttlStrategy, ttl_minutes: ttlMinutes, ...(expiresAt !== null && { expires_at: expiresAt }) };
}

function shownValues({ values, fault }: Pick<StoredThread, 'values' | 'fault'>): unknown {
  if (fault) return undecryptableValue(fault);
  return values ? stateValues(values) : null;
}

/**
 * Returns the values as a thread shows them: without the interrupt, which has its own field, and with complete
 * messages.
 */
function stateValues(text: Uint8Array): unknown {
  const values = parseStoredJson(text);
  if (values !== null && typeof values === 'object' && !Array.isArray(values)) {
    delete (values as Record<string, unknown>).__interrupt__;
  }
  return completeMessages(values);
}
