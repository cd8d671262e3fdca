import type pg from 'pg';
import type { KeyedRequest } from './keyed-request.ts';

/**
 * The rows of idempotency keys. A key is claimed in the transaction that creates, before anything else is locked and in
 * the order of ids. The second of two processes with the same key then waits for the first, and two batches never
 * deadlock. It is settled with the answer in the same transaction, or only claimed when more work comes before the
 * answer.
 *
 * The table, for the migrations of a database that uses it: `CREATE TABLE idempotency_key (id bytea PRIMARY KEY,
 * request_digest bytea NOT NULL, claim uuid NOT NULL, answer bytea, claimed_at timestamptz NOT NULL, expires_at
 * timestamptz NOT NULL);`
 */
export interface SqlQueries {
  query<Row>(text: string, values: unknown[]): Promise<Row[]>;
}

export const onPg = (client: pg.Pool | pg.ClientBase): SqlQueries => ({
  async query<Row>(text: string, values: unknown[]) {
    return (await client.query(text, values)).rows as Row[];
  },
});

/** The part of a generated Prisma client's transaction that this package uses. */
export interface RawTransaction {
  $queryRawUnsafe<T>(text: string, ...values: unknown[]): PromiseLike<T>;
}

export const onPrisma = (transaction: RawTransaction): SqlQueries => ({
  async query<Row>(text: string, values: unknown[]) {
    return transaction.$queryRawUnsafe<Row[]>(text, ...values);
  },
});

/** The key belongs to another request now, which has created or is creating. Nothing of this one was written. */
export class KeyTakenError extends Error {
  override readonly name = 'KeyTakenError';
  constructor() {
    super('An earlier request has claimed the idempotency key.');
  }
}

/**
 * Milliseconds after which a claim without an answer counts as abandoned by a dead process: another attempt may take it
 * over.
 */
export const CLAIM_MS = 10_000;
const IS_ABANDONED = `k.answer IS NULL AND k.claimed_at <= clock_timestamp() - interval '${CLAIM_MS} milliseconds'`;

export interface ClaimedKey {
  /** True when an earlier attempt claimed it and never answered: it may have created already. */
  wasClaimed: boolean;
}

/** Claims the free keys and returns them by `claim`. Waits for transactions in flight that claim one of them. */
export async function claimKeys(queries: SqlQueries, requests: KeyedRequest[]): Promise<Map<string, ClaimedKey>> {
  // A statement must not contain a key twice: the first of them creates.
  const distinct = new Map(requests.toReversed().map((request) => [request.id.toString('hex'), request]));
  const asked = [...distinct.values()];
  const rows = await queries.query<{ claim: string; was_claimed: boolean }>(
    `INSERT INTO idempotency_key AS k (id, request_digest, claim, claimed_at, expires_at)
     SELECT id, digest, claim, clock_timestamp(), now() + make_interval(secs => kept_ms / 1000)
     FROM unnest($1::bytea[], $2::bytea[], $3::uuid[], $4::float8[]) AS i (id, digest, claim, kept_ms)
     ORDER BY id
     ON CONFLICT (id) DO UPDATE
     SET request_digest = excluded.request_digest, claim = excluded.claim, answer = NULL,
         claimed_at = excluded.claimed_at, expires_at = excluded.expires_at
     WHERE k.expires_at <= now() OR (${IS_ABANDONED})
     RETURNING claim, EXISTS (SELECT 1 FROM idempotency_key b WHERE b.id = k.id AND b.expires_at > now()) AS was_claimed`,
    [
      asked.map(({ id }) => id),
      asked.map(({ digest }) => digest),
      asked.map(({ claim }) => claim),
      asked.map(({ keptMs }) => keptMs),
    ],
  );
  return new Map(rows.map((row) => [row.claim, { wasClaimed: row.was_claimed }]));
}

/** @throws KeyTakenError */
export async function claimKey(queries: SqlQueries, request: KeyedRequest): Promise<ClaimedKey> {
  const claimed = (await claimKeys(queries, [request])).get(request.claim);
  if (!claimed) throw new KeyTakenError();
  return claimed;
}

/** Binds keys to their answers, JSON values. @throws KeyTakenError when another attempt has taken a claim over */
export async function settleKeys(
  queries: SqlQueries,
  settled: { request: KeyedRequest; answer: unknown }[],
): Promise<void> {
  if (settled.length === 0) return;
  const rows = await queries.query(
    `UPDATE idempotency_key k SET answer = i.answer
     FROM unnest($1::bytea[], $2::uuid[], $3::bytea[]) AS i (id, claim, answer)
     WHERE k.id = i.id AND k.claim = i.claim
     RETURNING 1`,
    [
      settled.map(({ request }) => request.id),
      settled.map(({ request }) => request.claim),
      settled.map(({ request, answer }) => request.encrypt(answer)),
    ],
  );
  if (rows.length < settled.length) throw new KeyTakenError();
}

/** Frees keys whose creation failed. A bound key stays bound: its creation took place, and the answer was lost. */
export function releaseKeys(queries: SqlQueries, requests: KeyedRequest[]): Promise<void> {
  return freeKeys(queries, requests, { alsoBound: false });
}

/** Frees a key even when it is bound, after its creation was undone. */
export function unbindKey(queries: SqlQueries, request: KeyedRequest): Promise<void> {
  return freeKeys(queries, [request], { alsoBound: true });
}

async function freeKeys(
  queries: SqlQueries,
  requests: KeyedRequest[],
  { alsoBound }: { alsoBound: boolean },
): Promise<void> {
  if (requests.length === 0) return;
  await queries.query(
    `DELETE FROM idempotency_key k USING unnest($1::bytea[], $2::uuid[]) AS i (id, claim)
     WHERE k.id = i.id AND k.claim = i.claim AND (k.answer IS NULL OR $3::boolean)`,
    [requests.map(({ id }) => id), requests.map(({ claim }) => claim), alsoBound],
  );
}

/** A key's row: what says which request it is of, and the answer unless that is in flight. */
export interface KnownKey extends Pick<KeyedRequest, 'digest' | 'claim'> {
  answer: Uint8Array | null;
}

/** Returns undefined for a free key. */
export async function findKey(queries: SqlQueries, id: Buffer): Promise<KnownKey | undefined> {
  const [row] = await queries.query<{ request_digest: Uint8Array; claim: string; answer: Uint8Array | null }>(
    `SELECT k.request_digest, k.claim, k.answer FROM idempotency_key k
     WHERE k.id = $1 AND k.expires_at > now() AND NOT (${IS_ABANDONED})`,
    [id],
  );
  return row && { digest: Buffer.from(row.request_digest), claim: row.claim, answer: row.answer };
}

const BATCH = 1_000;

/** Deletes expired keys. */
export async function removeExpiredKeys(db: pg.Pool): Promise<void> {
  for (;;) {
    const { rowCount } = await db.query(
      `DELETE FROM idempotency_key WHERE id IN (
         SELECT id FROM idempotency_key WHERE expires_at <= now() ORDER BY expires_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)`,
    );
    if ((rowCount ?? 0) < BATCH) return;
  }
}
