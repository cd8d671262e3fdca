import { type DataCipher, EncryptionError } from '@runyard/encryption';
import type { RunRecord } from './types.ts';

/** The columns of a run that clients may see, by the fields of its record. */
const COLUMNS = {
  runId: 'run_id',
  threadId: 'thread_id',
  assistantId: 'assistant_id',
  status: 'status',
  metadata: 'metadata',
  kwargs: 'kwargs',
  multitaskStrategy: 'multitask_strategy',
  attempt: 'attempt',
  keepsThread: 'keeps_thread',
  cancelAction: 'cancel_action',
  cancelReason: 'cancel_reason',
  firstEventId: 'first_event_id',
  error: 'error',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
} as const satisfies Record<Exclude<keyof RunRecord, 'fault'>, string>;

type Field = keyof typeof COLUMNS;

const FIELDS = Object.entries(COLUMNS) as [Field, (typeof COLUMNS)[Field]][];

export const RUN_COLUMNS = FIELDS.map(([, column]) => column).join(', ');

/** A run as it is stored: its arguments are bytes, its metadata may be encrypted. */
export type RunRow = { [F in Field as (typeof COLUMNS)[F]]: F extends 'kwargs' ? Buffer : RunRecord[F] };

/** @throws EncryptionError when its arguments or metadata cannot be decrypted */
export function runOfRow(row: RunRow, cipher: DataCipher): RunRecord {
  const stored = Object.fromEntries(FIELDS.map(([field, column]) => [field, row[column]]));
  return {
    ...(stored as Pick<RunRecord, Field>),
    metadata: cipher.json.decrypt(row.metadata),
    kwargs: JSON.parse(cipher.decrypt(row.kwargs).toString('utf8')),
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
