import { isDataError, withTransaction } from '@runyard/database';
import {
  type DataCipher,
  EncryptionError,
  type EncryptionScope,
  EncryptionUnavailableError,
} from '@runyard/encryption';
import type pg from 'pg';
import { ThreadHeldError } from '../errors.ts';
import { lockUnheldThreads } from '../locks.ts';
import type { CreationRules } from '../runs/create-runs.ts';
import { createRunsWithinBudgets } from '../runs/create-within-budgets.ts';
import { type EncodedRun, encodeRun } from '../runs/encode-run.ts';
import type { CreatedRun } from '../runs/types.ts';
import { type CronRow, decodeCronCreator, listedCronOfRow } from './cron-row.ts';
import { slotAfter } from './slots.ts';
import type { DueCron, FireCrons, FiredSlot, SkipReason } from './types.ts';

const BATCH = 50;
const ATTEMPTS = 5;
/** Milliseconds to wait for a thread that another transaction has locked, before the next try. */
const LOCK_WAIT_MS = 5_000;
/** Fired slots are remembered for this long, which is more than a database's clock is ever set back. */
const SLOTS_KEPT = '2 days';

/** The parts that creating a cron's runs shares with all other runs. */
export interface FiringParts extends CreationRules {
  cipher: DataCipher;
}

/**
 * Fires crons whose next slot has come, up to a batch of them; empty when none is due.
 *
 * One transaction claims the slot, creates its run and the run's event, and sets the cron's next slot. However many
 * processes do this at once, and wherever one dies, a slot has exactly one run. Slots that were missed while no process
 * ran fire once together, because the next slot is the first one after the database's present time.
 *
 * A slot whose cron cannot be decrypted, or whose run cannot be encrypted, stays due: that may pass.
 */
export async function fireCrons(pool: pg.Pool, options: FireExcept, parts: FiringParts): Promise<FiredSlot[]> {
  const limits = { attempts: ATTEMPTS, lockTimeoutMs: LOCK_WAIT_MS };
  const ahead = await encodeAhead(pool, options, parts.cipher);
  return withTransaction(pool, (client) => fireBatch(client, options, { ...parts, ahead }), limits);
}

/** The crons to fire, without some. */
type FireExcept = FireCrons & { except: readonly string[] };

/**
 * Encodes the runs of due crons, by cron, before anything is locked: handlers of the project may take seconds. What
 * fails here fails again when the cron is fired.
 */
async function encodeAhead(pool: pg.Pool, options: FireExcept, cipher: DataCipher): Promise<Map<string, EncodedRun>> {
  const ahead = new Map<string, EncodedRun>();
  if (!cipher.needsKeys && !cipher.json.hasHandlers) return ahead;
  const { crons, now } = await readCrons(pool, READ, (await findDue(pool, options)).map(toId), cipher);
  const plans = await Promise.all(crons.map((cron) => planFiring(cron, now, options, { cipher, ahead })));
  for (const { cron, creation } of plans) if (creation) ahead.set(cron.cronId, creation);
  return ahead;
}

/**
 * Returns milliseconds until the next slot by the database's clock, 0 when one is due; undefined when no cron has one.
 */
export async function millisecondsToNextSlot(
  db: pg.Pool,
  { graphIds, except }: Pick<FireExcept, 'graphIds' | 'except'>,
): Promise<number | undefined> {
  const { rows } = await db.query<{ ms: number }>({
    name: 'engine_next_slot',
    text: `SELECT greatest(0, extract(epoch FROM c.next_run_date - clock_timestamp()) * 1000)::float8 AS ms
           FROM cron c JOIN assistant a ON a.assistant_id = c.assistant_id
           WHERE c.enabled AND c.next_run_date IS NOT NULL AND a.graph_id = ANY($1::text[])
             AND c.cron_id <> ALL($2::uuid[])
           ORDER BY c.next_run_date LIMIT 1`,
    values: [graphIds, except],
  });
  return rows[0]?.ms;
}

interface BatchParts extends FiringParts {
  /** Runs that were encoded before anything was locked, by cron. */
  ahead: ReadonlyMap<string, EncodedRun>;
}

async function fireBatch(client: pg.ClientBase, options: FireExcept, parts: BatchParts): Promise<FiredSlot[]> {
  const { cipher } = parts;
  const { crons, now } = await claimDue(client, options, cipher);
  if (crons.length === 0) return [];
  const plans = await Promise.all(crons.map((cron) => planFiring(cron, now, options, parts)));
  const creations = plans.flatMap(({ creation }) => creation ?? []);
  const created = await createEach(client, creations, parts);
  const fired = plans.map(({ cron, creation, refusal, postponement, skipReason }): FiredSlot => {
    const outcome = creation ? created.get(creation)! : refusal;
    const { cronId, nextRunDate } = cron;
    const slot = { cronId, slot: nextRunDate as Date };
    if (postponement) return { ...slot, postponement, cancelled: [] };
    if (skipReason) return { ...slot, skipReason, cancelled: [] };
    if (outcome === undefined) return { ...slot, cancelled: [] };
    // Another process is creating the thread: the whole firing is retried.
    if (outcome instanceof ThreadHeldError) throw outcome;
    if (outcome instanceof Error) return { ...slot, refusal: outcome, cancelled: [] };
    return { ...slot, run: outcome.run, cancelled: outcome.cancelled };
  });
  const passed = plans.filter(({ postponement }) => postponement === undefined);
  await advanceCrons(client, passed, fired);
  return fired;
}

/** The decision about a slot, made before anything is written. */
interface Plan {
  cron: ClaimedCron;
  next: Date | null;
  creation?: EncodedRun;
  refusal?: Error;
  postponement?: Error;
  skipReason?: SkipReason;
}

async function planFiring(
  cron: ClaimedCron,
  now: Date,
  { toRun }: FireCrons,
  { cipher, ahead }: Pick<BatchParts, 'cipher' | 'ahead'>,
): Promise<Plan> {
  let next: Date | null;
  try {
    next = slotAfter(cron, now);
  } catch (error) {
    // This machine does not know the time zone any more. The cron gets no next slot until it is changed.
    return { cron, next: null, refusal: asError(error) };
  }
  if (cron.isFired) return { cron, next };
  if (cron.skipReason) return { cron, next, skipReason: cron.skipReason };
  if (cron.fault) return { cron, next, postponement: cron.fault };
  const inScope = await scopeOfRuns(cron, cipher);
  if (inScope instanceof Error) return { cron, next, postponement: inScope };
  try {
    return { cron, next, creation: await inScope(() => encodeRun(toRun(cron), cipher, ahead.get(cron.cronId))) };
  } catch (error) {
    if (mayPass(error)) return { cron, next, postponement: error };
    return { cron, next, refusal: asError(error) };
  }
}

/** Returns the scope of a cron's runs, or why it is not to be had now. @throws what the database throws */
async function scopeOfRuns({ encrypted }: ClaimedCron, cipher: DataCipher): Promise<EncryptionScope | Error> {
  try {
    return await cipher.scopeOf(encrypted);
  } catch (error) {
    if (mayPass(error)) return error;
    throw error;
  }
}

/**
 * Creates the runs together. When the database refuses the data of one, creates each alone, so that only that one
 * fails.
 */
async function createEach(
  client: pg.ClientBase,
  creations: EncodedRun[],
  parts: FiringParts,
): Promise<Map<EncodedRun, CreatedRun | Error>> {
  const results = new Map<EncodedRun, CreatedRun | Error>();
  if (creations.length === 0) return results;
  await client.query('SAVEPOINT creation');
  try {
    const created = await createRunsWithinBudgets(client, creations, parts);
    creations.forEach((creation, index) => void results.set(creation, created[index]!));
    await client.query('RELEASE SAVEPOINT creation');
  } catch (error) {
    if (!isDataError(error)) throw error;
    await client.query('ROLLBACK TO SAVEPOINT creation');
    if (creations.length === 1) results.set(creations[0]!, asError(error));
    else
      for (const one of creations) for (const result of await createEach(client, [one], parts)) results.set(...result);
  }
  return results;
}

/** Returns whether the keys of a project, or a process that has them, may be there later. */
function mayPass(error: unknown): error is EncryptionError | EncryptionUnavailableError {
  return error instanceof EncryptionError || error instanceof EncryptionUnavailableError;
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

interface ClaimedCron extends DueCron {
  /** True when the slot has its run already: the database's clock was set back. */
  isFired: boolean;
  /** Why the slot passes without a run; null when it does not. */
  skipReason: SkipReason | null;
  /** Its payload as it is stored: its runs are encrypted in the same context. */
  encrypted: Uint8Array;
}

/**
 * Locks due crons, at most one per thread, in the engine's lock order: threads first. Skips crons that another process
 * has locked.
 */
async function claimDue(
  client: pg.ClientBase,
  options: FireExcept,
  cipher: DataCipher,
): Promise<{ crons: ClaimedCron[]; now: Date }> {
  const due = await findDue(client, options);
  const threadIds = new Set<string>();
  const chosen = due.filter(({ thread_id }) => {
    if (thread_id === null) return true;
    if (threadIds.has(thread_id)) return false;
    threadIds.add(thread_id);
    return true;
  });
  const { held } = await lockUnheldThreads(client, [...threadIds]);
  const free = chosen.filter(({ thread_id }) => !held.has(thread_id ?? ''));
  return readCrons(client, CLAIM, free.map(toId), cipher);
}

interface DueRow {
  cron_id: string;
  thread_id: string | null;
}

async function findDue(
  db: Pick<pg.ClientBase, 'query'>,
  { graphIds, except }: Pick<FireExcept, 'graphIds' | 'except'>,
): Promise<DueRow[]> {
  const { rows } = await db.query<DueRow>({
    name: 'engine_due_crons',
    text: `SELECT c.cron_id, c.thread_id FROM cron c JOIN assistant a ON a.assistant_id = c.assistant_id
           WHERE c.enabled AND c.next_run_date <= now() AND a.graph_id = ANY($1::text[])
             AND c.cron_id <> ALL($2::uuid[])
           ORDER BY c.next_run_date, c.cron_id LIMIT ${BATCH}`,
    values: [graphIds, except],
  });
  return rows;
}

function toId({ cron_id }: DueRow): string {
  return cron_id;
}

const SELECT_DUE = `
  SELECT c.*, a.graph_id, a.config AS assistant_config, a.context AS assistant_context,
         a.metadata AS assistant_metadata, a.is_system, now() AS present,
         (SELECT k.creator FROM cron_creator k WHERE k.cron_id = c.cron_id) AS creator,
         (SELECT CASE WHEN d.halt_reason IS NOT NULL THEN 'halted'
                      WHEN d.failed_revision IS NOT NULL THEN 'edit_failed' END
          FROM deployment d) AS skip_reason,
         EXISTS (SELECT 1 FROM cron_slot s WHERE s.cron_id = c.cron_id AND s.slot = c.next_run_date) AS is_fired
  FROM cron c JOIN assistant a ON a.assistant_id = c.assistant_id
  WHERE c.cron_id = ANY($1::uuid[]) AND c.enabled AND c.next_run_date <= now()
  ORDER BY c.next_run_date, c.cron_id`;
const READ = { name: 'engine_read_crons', text: SELECT_DUE };
const CLAIM = { name: 'engine_claim_crons', text: `${SELECT_DUE} FOR UPDATE OF c SKIP LOCKED` };

async function readCrons(
  db: Pick<pg.ClientBase, 'query'>,
  statement: { name: string; text: string },
  cronIds: string[],
  cipher: DataCipher,
): Promise<{ crons: ClaimedCron[]; now: Date }> {
  const { rows } = await db.query<ClaimedRow>({ ...statement, values: [cronIds] });
  return { crons: rows.map((row) => claimedCronOf(row, cipher)), now: rows[0]?.present ?? new Date(0) };
}

interface ClaimedRow extends CronRow {
  creator: Uint8Array | null;
  graph_id: string;
  assistant_config: Record<string, unknown>;
  assistant_context: Record<string, unknown>;
  assistant_metadata: Record<string, unknown>;
  is_system: boolean;
  is_fired: boolean;
  skip_reason: SkipReason | null;
  present: Date;
}

function claimedCronOf(row: ClaimedRow, cipher: DataCipher): ClaimedCron {
  return {
    ...listedCronOfRow(row, cipher),
    ...creatorOfRow(row, cipher),
    ...assistantOfRow(row, cipher),
    isFired: row.is_fired,
    skipReason: row.skip_reason,
    encrypted: row.payload,
  };
}

/** Returns a `fault` when the assistant cannot be decrypted: its runs must not get ciphertext. */
function assistantOfRow(row: ClaimedRow, cipher: DataCipher): Pick<DueCron, 'assistant' | 'fault'> {
  const assistant = {
    assistantId: row.assistant_id,
    graphId: row.graph_id,
    config: row.assistant_config,
    context: row.assistant_context,
    metadata: row.assistant_metadata,
    isSystem: row.is_system,
  };
  try {
    return { assistant: cipher.json.decrypt(assistant) };
  } catch (fault) {
    if (!(fault instanceof EncryptionError)) throw fault;
    return { assistant, fault };
  }
}

/** Returns a `fault` when the creator cannot be decrypted: the cron must not fire as anybody else. */
function creatorOfRow({ creator }: ClaimedRow, cipher: DataCipher): Pick<DueCron, 'creator' | 'fault'> {
  try {
    return { creator: creator && decodeCronCreator(creator, cipher) };
  } catch (fault) {
    if (!(fault instanceof EncryptionError)) throw fault;
    return { creator: null, fault };
  }
}

async function advanceCrons(client: pg.ClientBase, plans: Plan[], fired: FiredSlot[]): Promise<void> {
  const withRun = fired.filter(({ run }) => run !== undefined);
  await client.query({
    name: 'engine_advance_crons',
    text: `WITH fired AS (
             INSERT INTO cron_slot (cron_id, slot, run_id)
             SELECT * FROM unnest($1::uuid[], $2::timestamptz[], $3::uuid[])
           ), forgotten AS (
             DELETE FROM cron_slot s WHERE s.cron_id = ANY($4::uuid[]) AND s.slot < now() - interval '${SLOTS_KEPT}'
           )
           UPDATE cron c SET next_run_date = i.next_slot
           FROM unnest($4::uuid[], $5::timestamptz[]) AS i (cron_id, next_slot) WHERE c.cron_id = i.cron_id`,
    values: [
      withRun.map(({ cronId }) => cronId),
      withRun.map(({ slot }) => slot),
      withRun.map(({ run }) => run!.runId),
      plans.map(({ cron }) => cron.cronId),
      plans.map(({ next }) => next),
    ],
  });
}
