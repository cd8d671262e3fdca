import type { AssistantCountRequest, AssistantSearchRequest } from '@runyard/contracts';
import { rowsWithinBytes, toSizedRows, toSqlJson, toSqlText } from '@runyard/database';
import { type DataCipher, JSON_PLACES } from '@runyard/encryption';
import { type KeyedRequest, withIdempotencyKey } from '@runyard/idempotency';
import type { Scope } from '../access/scope.ts';
import { Prisma, type PrismaClient } from '../connections/prisma.ts';
import { requireSearchable } from '../errors/encrypted-keys.ts';
import type { ListRoom } from '../http/list-room.ts';
import { EXACT_TOTAL_MAX, type Page, toPage, totalIfKnown } from '../http/pagination.ts';
import { encryptJson, replaceJson } from './assistant-json.ts';
import type { AssistantContent, AssistantRecord } from './assistant-record.ts';
import type { AssistantVisibility } from './assistant-visibility.ts';
import { toStorable } from './storable-content.ts';

export interface NewAssistant extends AssistantContent {
  assistantId: string;
  /** Set for the default assistant of a graph: the project's settings for it. */
  projectSettings?: object;
}

export interface InsertedAssistant {
  /** False when an assistant with this id existed already. */
  isNew: boolean;
  /** Undefined when the caller may not see it. */
  assistant: AssistantRecord | undefined;
}

type Filters = AssistantCountRequest;
type Search = AssistantSearchRequest & { limit: number; offset: number };

const SORT_COLUMNS = {
  assistant_id: 'assistant_id',
  created_at: 'created_at',
  updated_at: 'updated_at',
  name: 'name',
  graph_id: 'graph_id',
} as const;

export const ASSISTANT_COLUMNS = Prisma.raw(`assistant_id AS "assistantId", graph_id AS "graphId", name, description,
  config, context, metadata, version, is_system AS "isSystem", project_settings AS "projectSettings",
  created_at AS "createdAt", updated_at AS "updatedAt"`);

/** The project's own settings are not counted: only the default assistant of each graph has some. */
export const ASSISTANTS_WITHIN_BYTES = rowsWithinBytes(
  'octet_length(config::text) + octet_length(context::text) + octet_length(metadata::text)',
);

/** Keeps assistants in Postgres, in their current version. `AssistantVersionStore` keeps their versions. */
export class AssistantStore {
  readonly #prisma: PrismaClient;
  readonly #visibility: AssistantVisibility;
  readonly #cipher: DataCipher;
  readonly #room: ListRoom;

  constructor(prisma: PrismaClient, visibility: AssistantVisibility, cipher: DataCipher, room: ListRoom) {
    this.#prisma = prisma;
    this.#visibility = visibility;
    this.#cipher = cipher;
    this.#room = room;
  }

  /**
   * Inserts the assistant with its first version. Returns false, and writes nothing, when the id is taken. @throws
   * EncryptionUnavailableError
   */
  async insert(assistant: NewAssistant): Promise<boolean> {
    const stored = await encryptJson(assistant, this.#cipher);
    return this.#prisma.$transaction((tx) => insertInto(tx, stored));
  }

  /**
   * Inserts a new assistant and returns it, or else the one that has its id if the caller may see that. The answer made
   * from it is stored under the idempotency key. @throws EncryptionUnavailableError
   */
  async create<Made>(
    scope: Scope,
    assistant: NewAssistant,
    answerOf: (inserted: InsertedAssistant) => Made,
    keyed: KeyedRequest | undefined,
  ): Promise<Made> {
    const stored = await encryptJson(assistant, this.#cipher);
    return this.#prisma.$transaction(
      withIdempotencyKey(keyed, async (tx: Prisma.TransactionClient) => {
        const isNew = await insertInto(tx, stored);
        const found = await this.#findWhere(assistant.assistantId, this.#visibility.whereVisible(scope), tx);
        return answerOf({ isNew, assistant: found && this.#decrypt(found) });
      }),
    );
  }

  /** @throws EncryptionError when it cannot be decrypted */
  async find(scope: Scope, assistantId: string): Promise<AssistantRecord | undefined> {
    const found = await this.#findWhere(assistantId, this.#visibility.whereVisible(scope));
    return found && this.#decrypt(found);
  }

  /** Returns what decides about an assistant's removal, also when the rest cannot be decrypted. */
  async findRemovable(scope: Scope, id: string): Promise<Pick<AssistantRecord, 'graphId' | 'isSystem'> | undefined> {
    return this.#findWhere(id, this.#visibility.whereVisible(scope));
  }

  /** Returns whether there is an assistant that the caller may change. */
  async isChangeable(scope: Scope, assistantId: string): Promise<boolean> {
    return (await this.#findWhere(assistantId, this.#visibility.whereChangeable(scope))) !== undefined;
  }

  /** Deletes the assistant with its versions. Returns false when there was none. */
  async delete(scope: Scope, assistantId: string): Promise<boolean> {
    const deleted = await this.#prisma.$executeRaw`
      DELETE FROM assistant WHERE assistant_id = ${assistantId}::uuid AND ${this.#visibility.whereChangeable(scope)}`;
    return deleted > 0;
  }

  /**
   * Returns a page of assistants, which has room until the signal; `{"__error__": …}` stands for what cannot be
   * decrypted. @throws UnprocessableError for a filter on encrypted metadata, PayloadTooLargeError
   */
  async search(scope: Scope, search: Search, until: AbortSignal): Promise<Page<AssistantRecord>> {
    const where = await this.#whereMatching(scope, search);
    const order = Prisma.raw(
      `${SORT_COLUMNS[search.sort_by ?? 'created_at']} ${search.sort_order === 'asc' ? 'ASC' : 'DESC'}, assistant_id`,
    );
    const list = Prisma.sql`
      SELECT ${ASSISTANT_COLUMNS} FROM assistant WHERE ${where}
      ORDER BY ${order} LIMIT ${search.limit + 1} OFFSET ${search.offset}`;
    const { rows } = await this.#room.readWhole(until, async (maxBytes) =>
      toSizedRows<AssistantRecord>(await this.#prisma.$queryRaw(Prisma.sql(ASSISTANTS_WITHIN_BYTES, list, maxBytes))),
    );
    const shown = rows.map((row) => replaceJson(row, this.#cipher.json.decryptListed));
    return toPage(shown, search, totalIfKnown(rows, search) ?? (await this.#count(where, EXACT_TOTAL_MAX + 1)));
  }

  /** @throws UnprocessableError for a filter on encrypted metadata */
  async count(scope: Scope, filters: Filters): Promise<number> {
    return this.#count(await this.#whereMatching(scope, filters));
  }

  async #count(where: Prisma.Sql, atMost?: number): Promise<number> {
    const limit = atMost === undefined ? Prisma.empty : Prisma.sql`LIMIT ${atMost}`;
    const [row] = await this.#prisma.$queryRaw<{ total: bigint }[]>`
      SELECT count(*) AS total FROM (SELECT 1 FROM assistant WHERE ${where} ${limit}) AS matching`;
    return Number(row?.total ?? 0);
  }

  #decrypt(assistant: AssistantRecord): AssistantRecord {
    return replaceJson(assistant, this.#cipher.json.decrypt);
  }

  async #whereMatching(scope: Scope, { metadata, graph_id, name }: Filters): Promise<Prisma.Sql> {
    await requireSearchable(this.#cipher, { metadata }, JSON_PLACES.assistantMetadata);
    const conditions = [this.#visibility.whereVisible(scope)];
    if (metadata && Object.keys(metadata).length > 0) {
      conditions.push(Prisma.sql`metadata @> ${toSqlJson(metadata)}::jsonb`);
    }
    if (graph_id !== undefined) conditions.push(Prisma.sql`graph_id = ${toSqlText(graph_id)}`);
    if (name) conditions.push(Prisma.sql`name ILIKE ${`%${toSqlText(name).replace(/[\\%_]/g, '\\$&')}%`}`);
    return Prisma.join(conditions, ' AND ');
  }

  /** Returns the row as it is stored. */
  async #findWhere(
    assistantId: string,
    condition: Prisma.Sql,
    queries: Pick<PrismaClient, '$queryRaw'> = this.#prisma,
  ): Promise<AssistantRecord | undefined> {
    const rows = await queries.$queryRaw<AssistantRecord[]>`
      SELECT ${ASSISTANT_COLUMNS} FROM assistant WHERE assistant_id = ${assistantId}::uuid AND ${condition}`;
    return rows[0];
  }
}

/** Returns false, and writes nothing, when the id is taken. */
async function insertInto(
  tx: Prisma.TransactionClient,
  { assistantId, projectSettings, ...content }: NewAssistant,
): Promise<boolean> {
  const version = { assistantId, ...toStorable(content) };
  const system = projectSettings ? { isSystem: true, projectSettings } : {};
  const { count } = await tx.assistant.createMany({ data: [{ ...version, ...system }], skipDuplicates: true });
  if (count === 0) return false;
  await tx.assistantVersion.create({ data: { ...version, version: 1 } });
  return true;
}
