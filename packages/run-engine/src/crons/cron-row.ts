import { type DataCipher, EncryptionError } from '@runyard/encryption';
import type { CronCreator, CronRecord } from './types.ts';

export const CRON_COLUMNS = `cron_id, assistant_id, thread_id, user_id, schedule, timezone, end_time, enabled,
  on_run_completed, payload, metadata, next_run_date, created_at, updated_at`;

export interface CronRow {
  cron_id: string;
  assistant_id: string;
  thread_id: string | null;
  user_id: string;
  schedule: string;
  timezone: string | null;
  end_time: Date | null;
  enabled: boolean;
  on_run_completed: CronRecord['onRunCompleted'];
  payload: Uint8Array;
  metadata: Record<string, unknown>;
  next_run_date: Date | null;
  created_at: Date;
  updated_at: Date;
}

/** @throws EncryptionError when its payload or metadata cannot be decrypted */
export function cronOfRow(row: CronRow, cipher: DataCipher): CronRecord {
  return {
    cronId: row.cron_id,
    assistantId: row.assistant_id,
    threadId: row.thread_id,
    userId: row.user_id,
    schedule: row.schedule,
    timezone: row.timezone,
    endTime: row.end_time,
    enabled: row.enabled,
    onRunCompleted: row.on_run_completed,
    payload: JSON.parse(cipher.decrypt(row.payload).toString('utf8')),
    metadata: cipher.json.decrypt(row.metadata),
    nextRunDate: row.next_run_date,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** Returns the cron, with a `fault` when it cannot be decrypted: one such cron must not block others. */
export function listedCronOfRow(row: CronRow, cipher: DataCipher): CronRecord {
  try {
    return cronOfRow(row, cipher);
  } catch (fault) {
    if (!(fault instanceof EncryptionError)) throw fault;
    const metadata = cipher.json.decryptListed(row.metadata);
    return { ...cronOfRow({ ...row, payload: Buffer.from('{}'), metadata }, cipher), fault };
  }
}

/** Encrypts the creator of a cron before it is stored. */
export function encodeCronCreator(creator: CronCreator, cipher: DataCipher): Buffer {
  return cipher.encrypt(Buffer.from(JSON.stringify(creator)));
}

/** @throws EncryptionError when it cannot be decrypted */
export function decodeCronCreator(stored: Uint8Array, cipher: DataCipher): CronCreator {
  return JSON.parse(cipher.decrypt(stored).toString('utf8'));
}
