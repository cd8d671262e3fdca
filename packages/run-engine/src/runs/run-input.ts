/** The runs that one statement inserts: an array for each column. */
import { toSqlJson, toSqlText } from '@runyard/database';
import { webhooksColumn } from '../webhooks/queue-webhooks.ts';
import type { EncodedRun } from './encode-run.ts';
import type { RunCreator } from './types.ts';

interface InputColumn {
  /** Its type in SQL. */
  type: string;
  of(run: EncodedRun): unknown;
}

/** Columns of table `run`, as they are stored. */
const STORED: Record<string, InputColumn> = {
  run_id: { type: 'uuid', of: ({ runId }) => runId },
  thread_id: { type: 'uuid', of: ({ threadId }) => threadId },
  assistant_id: { type: 'uuid', of: ({ assistantId }) => assistantId },
  kwargs: { type: 'bytea', of: ({ storedKwargs }) => storedKwargs },
  multitask_strategy: { type: 'text', of: ({ multitaskStrategy }) => multitaskStrategy },
  keeps_thread: { type: 'boolean', of: ({ keepsThread }) => keepsThread },
  webhooks: { type: 'jsonb', of: webhooksColumn },
};

const COLUMNS: Record<string, InputColumn> = {
  ...STORED,
  /** Seconds from now before the run may start. */
  delay: { type: 'float8', of: ({ afterSeconds }) => afterSeconds ?? 0 },
  /** Its thread's graph. */
  graph_id: { type: 'text', of: ({ graphId }) => toSqlText(graphId) },
  /** The text of `metadata`: its length is at hand, and that of `jsonb` only once it is written out. */
  metadata_text: { type: 'text', of: ({ storedMetadata }) => toSqlJson(storedMetadata) },
  /** The event alone gets it. */
  creator: { type: 'jsonb', of: ({ creator }) => creator && creatorField(creator) },
};

/** Names of the columns that the table has too. */
export const STORED_COLUMNS = [...Object.keys(STORED), 'metadata'].join(', ');

/** The number of parameters that the input takes: the first ones of its statement. */
export const INPUT_PARAMETERS = Object.keys(COLUMNS).length;

/** Query for all columns and the `position` of each run in the batch, from 1. */
export const SELECT_INPUT = `SELECT *, metadata_text::jsonb AS metadata FROM unnest(${Object.values(COLUMNS)
  .map(({ type }, index) => `$${index + 1}::${type}[]`)
  .join(', ')}) WITH ORDINALITY AS i (${Object.keys(COLUMNS).join(', ')}, position)`;

/** Returns the parameters of {@link SELECT_INPUT}. */
export function inputValues(runs: EncodedRun[]): unknown[][] {
  return Object.values(COLUMNS).map(({ of }) => runs.map(of));
}

function creatorField({ kind, identity, keyId }: RunCreator): string {
  return toSqlJson({ kind, identity, key_id: keyId });
}
