import { type DataCipher, EncryptionError } from '@runyard/encryption';
import type { RunRecord } from './types.ts';

/** The columns of a run that clients may see. */
export const RUN_COLUMNS = `run_id, thread_id, assistant_id, status, metadata, kwargs, multitask_strategy, attempt,
  keeps_thread, cancel_action, cancel_reason, first_event_id, error, created_at, updated_at`;

export interface RunRow {
  run_id: string;
  thread_id: string;
  assistant_id: string;
  status: RunRecord['status'];
  metadata: Record<string, unknown>;
  kwargs: Buffer;
  multitask_strategy: RunRecord['multitaskStrategy'];
  attempt: number;
  keeps_thread: boolean;
  cancel_action: RunRecord['cancelAction'];
  cancel_reason: string | null;
  first_event_id: string | null;
  error: RunRecord['error'];
  created_at: Date;
  updated_at: Date;
}

/** @throws EncryptionError when its arguments or metadata cannot be decrypted */
export function runOfRow(row: RunRow, cipher: DataCipher): RunRecord {
  return {
    runId: row.run_id,
    threadId: row.thread_id,
    assistantId: row.assistant_id,
    status: row.status,
    metadata: cipher.json.decrypt(row.metadata),
    kwargs: JSON.parse(cipher.decrypt(row.kwargs).toString('utf8')),
    multitaskStrategy: row.multitask_strategy,
    attempt: row.attempt,
    keepsThread: row.keeps_thread,
    cancelAction: row.cancel_action,
    cancelReason: row.cancel_reason,
    firstEventId: row.first_event_id,
    error: row.error,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** Returns the run, with a `fault` when it cannot be decrypted: one such run must not block reading others. */
export function listedRunOfRow(row: RunRow, cipher: DataCipher): RunRecord {
  try {
    return runOfRow(row, cipher);
  } catch (fault) {
    if (!(fault instanceof EncryptionError)) throw fault;
    const metadata = cipher.json.decryptListed(row.metadata);
    return { ...runOfRow({ ...row, kwargs: Buffer.from('{}'), metadata }, cipher), fault };
  }
}
