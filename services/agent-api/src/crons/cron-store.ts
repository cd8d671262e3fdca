import type { CronCountRequest, CronSearch } from '@runyard/contracts';
import { isForeignKeyViolation, rowsWithinBytes, toSizedRows, toSqlJson, toSqlText } from '@runyard/database';
import { type DataCipher, JSON_PLACES } from '@runyard/encryption';
import { type KeyedRequest, withIdempotencyKey } from '@runyard/idempotency';
import {
  CRON_COLUMNS,
  type CronCreator,
  type CronRecord,
  type CronRow,
  cronOfRow,
  encodeCronCreator,
  listedCronOfRow,
  slotAfter,
} from '@runyard/run-engine';
import { NotFoundError } from '@runyard/service-kit';
import type { Scope } from '../access/scope.ts';
import { whereInScope } from '../access/where-in-scope.ts';
import { Prisma, type PrismaClient } from '../connections/prisma.ts';
import { encryptAhead } from '../encryption/encrypt-ahead.ts';
import { requireSearchable } from '../errors/encrypted-keys.ts';
import type { ListRoom } from '../http/list-room.ts';
import { EXACT_TOTAL_MAX, type Page, toPage, totalIfKnown } from '../http/pagination.ts';

/** The fields of a cron that its caller decides. */
export type CronSettings = Pick<
  CronRecord,
  'schedule' | 'timezone' | 'endTime' | 'enabled' | 'onRunCompleted' | 'payload' | 'metadata'
>;
export type NewCron = CronSettings &
  Pick<CronRecord, 'cronId' | 'assistantId' | 'threadId' | 'userId'> & { creator: CronCreator | null };

type Search = CronSearch & { limit: number; offset: number };
type Transaction = Prisma.TransactionClient;

const COLUMNS = Prisma.raw(CRON_COLUMNS);
const WITHIN_BYTES = rowsWithinBytes('octet_length(payload) + octet_length(metadata::text)');

/** Keeps crons in Postgres. Next slots are computed from the database's time. */
export class CronStore {
  readonly #prisma: PrismaClient;
  readonly #cipher: DataCipher;
  readonly #room: ListRoom;

  constructor(prisma: PrismaClient, cipher: DataCipher, room: ListRoom) {
    this.#prisma = prisma;
    this.#cipher = cipher;
    this.#room = room;
  }

  /**
   * The answer made from it is stored under the idempotency key. @throws NotFoundError when its thread or assistant was
   * deleted meanwhile; EncryptionUnavailableError
   */
  async insert<Made>(
    cron: NewCron,
    answerOf: (cron: CronRecord) => Made,
    keyed: KeyedRequest | undefined,
  ): Promise<Made> {
    const metadata = await this.#metadataJson(cron);
    const insert = async (tx: Transaction) => {
      const [row] = await tx.$queryRaw<CronRow[]>`
          INSERT INTO cron (cron_id, assistant_id, thread_id, user_id, schedule, timezone, end_time, enabled,
                            on_run_completed, payload, metadata, next_run_date)
          VALUES (${cron.cronId}::uuid, ${cron.assistantId}::uuid, ${cron.threadId}::uuid, ${toSqlText(cron.userId)},
                  ${cron.schedule}, ${cron.timezone}, ${cron.endTime}, ${cron.enabled}, ${cron.onRunCompleted},
                  ${this.#payloadBytes(cron)}, ${metadata}::jsonb, ${slotAfter(cron, await databaseNow(tx))})
          RETURNING ${COLUMNS}`;
      if (cron.creator) await this.#setCreator(tx, cron.cronId, cron.creator);
      return answerOf(cronOfRow(row!, this.#cipher));
    };
    try {
      return await this.#prisma.$transaction(withIdempotencyKey(keyed, insert));
    } catch (error) {
      if (!isForeignKeyViolation(error)) throw error;
      throw new NotFoundError('Thread or assistant not found.', {
        code: 'thread_or_assistant_not_found',
        cause: error,
      });
    }
  }

  /** @throws EncryptionError when it cannot be decrypted */
  async find(scope: Scope, cronId: string): Promise<CronRecord | undefined> {
    const rows = await this.#prisma.$queryRaw<CronRow[]>`
      SELECT ${COLUMNS} FROM cron WHERE cron_id = ${cronId}::uuid AND ${whereVisible(scope)}`;
    return rows[0] && cronOfRow(rows[0], this.#cipher);
  }

  /**
   * Changes a cron while nobody else changes or fires it; undefined when there is none. A slot that is due and not yet
   * fired stays unless the schedule itself changes. A new creator takes the place of the one before; null keeps that.
   *
   * @throws EncryptionError when it cannot be decrypted, EncryptionUnavailableError
   */
  async update(
    scope: Scope,
    cronId: string,
    change: (cron: CronRecord) => CronSettings,
    creator: CronCreator | null,
  ): Promise<CronRecord | undefined> {
    const metadataJson = await encryptAhead({
      cipher: this.#cipher,
      plain: async () => {
        const seen = await this.find(scope, cronId);
        return seen && { metadata: change(seen).metadata };
      },
      encrypt: (content) => this.#metadataJson(content),
    });
    return this.#prisma.$transaction(async (tx) => {
      const [row] = await tx.$queryRaw<CronRow[]>`
        SELECT ${COLUMNS} FROM cron WHERE cron_id = ${cronId}::uuid AND ${whereVisible(scope)} FOR UPDATE`;
      if (!row) return undefined;
      const before = cronOfRow(row, this.#cipher);
      const after = change(before);
      const metadata = await metadataJson({ metadata: after.metadata });
      const [changed] = await tx.$queryRaw<CronRow[]>`
        UPDATE cron
        SET schedule = ${after.schedule}, timezone = ${after.timezone}, end_time = ${after.endTime},
            enabled = ${after.enabled}, on_run_completed = ${after.onRunCompleted}, payload = ${this.#payloadBytes(after)},
            metadata = ${metadata}::jsonb, next_run_date = ${nextSlot(before, after, await databaseNow(tx))},
            updated_at = now()
        WHERE cron_id = ${cronId}::uuid RETURNING ${COLUMNS}`;
      if (creator) await this.#setCreator(tx, cronId, creator);
      return cronOfRow(changed!, this.#cipher);
    });
  }

  /** Returns false when there is no such cron. */
  async delete(scope: Scope, cronId: string): Promise<boolean> {
    const deleted = await this.#prisma.$executeRaw`
      DELETE FROM cron WHERE cron_id = ${cronId}::uuid AND ${whereVisible(scope)}`;
    return deleted > 0;
  }

  /**
   * Returns a page of crons, which has room until the signal; an undecryptable one has a `fault`. @throws
   * UnprocessableError for a filter on encrypted metadata, PayloadTooLargeError
   */
  async search(scope: Scope, search: Search, until: AbortSignal): Promise<Page<CronRecord>> {
    const where = await this.#whereMatching(scope, search);
    const order = Prisma.raw(
      `${search.sort_by ?? 'created_at'} ${search.sort_order === 'asc' ? 'ASC' : 'DESC'}, cron_id`,
    );
    const list = Prisma.sql`
      SELECT ${COLUMNS} FROM cron WHERE ${where} ORDER BY ${order} LIMIT ${search.limit + 1} OFFSET ${search.offset}`;
    const { rows } = await this.#room.readWhole(until, async (maxBytes) =>
      toSizedRows<CronRow>(await this.#prisma.$queryRaw(Prisma.sql(WITHIN_BYTES, list, maxBytes))),
    );
    const crons = rows.map((row) => listedCronOfRow(row, this.#cipher));
    return toPage(crons, search, totalIfKnown(rows, search) ?? (await this.#count(where, EXACT_TOTAL_MAX + 1)));
  }

  /** @throws UnprocessableError for a filter on encrypted metadata */
  async count(scope: Scope, filters: CronCountRequest): Promise<number> {
    return this.#count(await this.#whereMatching(scope, filters));
  }

  async #whereMatching(scope: Scope, filters: CronCountRequest): Promise<Prisma.Sql> {
    await requireSearchable(this.#cipher, filters, JSON_PLACES.cronMetadata);
    return whereMatching(scope, filters);
  }

  async #metadataJson({ metadata }: Pick<CronSettings, 'metadata'>): Promise<string> {
    return toSqlJson(await this.#cipher.json.encrypt(metadata, JSON_PLACES.cronMetadata));
  }

  async #setCreator(tx: Transaction, cronId: string, creator: CronCreator): Promise<void> {
    await tx.$executeRaw`
      INSERT INTO cron_creator (cron_id, creator) VALUES (${cronId}::uuid, ${encodeCronCreator(creator, this.#cipher)})
      ON CONFLICT (cron_id) DO UPDATE SET creator = excluded.creator`;
  }

  #payloadBytes({ payload }: Pick<CronSettings, 'payload'>): Buffer {
    return this.#cipher.encrypt(Buffer.from(JSON.stringify(payload)));
  }

  async #count(where: Prisma.Sql, atMost?: number): Promise<number> {
    const limit = atMost === undefined ? Prisma.empty : Prisma.sql`LIMIT ${atMost}`;
    const [row] = await this.#prisma.$queryRaw<{ total: bigint }[]>`
      SELECT count(*) AS total FROM (SELECT 1 FROM cron WHERE ${where} ${limit}) AS matching`;
    return Number(row?.total ?? 0);
  }
}

function nextSlot(before: CronRecord, after: CronSettings, now: Date): Date | null {
  const isRescheduled =
    after.schedule !== before.schedule ||
    after.timezone !== before.timezone ||
    // Slots that fell into the pause are not fired late.
    (after.enabled && !before.enabled);
  const next = before.nextRunDate;
  if (isRescheduled || next === null) return slotAfter(after, now);
  return after.endTime !== null && next > after.endTime ? null : next;
}

async function databaseNow(tx: Transaction): Promise<Date> {
  const [row] = await tx.$queryRaw<{ now: Date }[]>`SELECT now() AS now`;
  return row!.now;
}

function whereVisible(scope: Scope): Prisma.Sql {
  return whereInScope(scope, Prisma.raw('metadata'));
}

function whereMatching(scope: Scope, { assistant_id, thread_id, enabled, metadata }: CronCountRequest): Prisma.Sql {
  const conditions = [whereVisible(scope)];
  if (assistant_id !== undefined) conditions.push(Prisma.sql`assistant_id = ${assistant_id}::uuid`);
  if (thread_id !== undefined) conditions.push(Prisma.sql`thread_id = ${thread_id}::uuid`);
  if (enabled !== undefined) conditions.push(Prisma.sql`enabled = ${enabled}`);
  if (metadata && Object.keys(metadata).length > 0) {
    conditions.push(Prisma.sql`metadata @> ${toSqlJson(metadata)}::jsonb`);
  }
  return Prisma.join(conditions, ' AND ');
}
