import { toSizedRows, toSqlJson } from '@runyard/database';
import { type DataCipher, JSON_PLACES } from '@runyard/encryption';
import { type Scope, UNRESTRICTED } from '../access/scope.ts';
import { whereInScope } from '../access/where-in-scope.ts';
import { Prisma, type PrismaClient } from '../connections/prisma.ts';
import { encryptAhead } from '../encryption/encrypt-ahead.ts';
import { requireSearchable } from '../errors/encrypted-keys.ts';
import type { ListRoom } from '../http/list-room.ts';
import { encryptJson, replaceJson } from './assistant-json.ts';
import type { AssistantContent, AssistantRecord, AssistantVersionRecord } from './assistant-record.ts';
import { ASSISTANT_COLUMNS, ASSISTANTS_WITHIN_BYTES } from './assistant-store.ts';
import type { AssistantVisibility } from './assistant-visibility.ts';
import { toStorable } from './storable-content.ts';

export interface VersionSearch {
  metadata?: Record<string, unknown> | undefined;
  limit: number;
  offset: number;
}

/** Returns the content of a new version, with the project's settings for a default assistant; undefined: no change. */
type Change = (current: AssistantRecord) => { content: AssistantContent; projectSettings?: object } | undefined;

const METADATA = Prisma.raw('metadata');

const VERSION_COLUMNS = Prisma.raw(`assistant_id AS "assistantId", version, graph_id AS "graphId", name, description,
  config, context, metadata, created_at AS "createdAt"`);

/** Keeps the versions of assistants. A version is never changed: each change adds one and makes it the current one. */
export class AssistantVersionStore {
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
   * Returns versions, newest first, which have room until the signal. The caller has checked that the requester may see
   * the assistant: versions from before it changed its owner are hidden, unless it is a default assistant, which is for
   * all. @throws UnprocessableError for a filter on encrypted metadata, PayloadTooLargeError
   */
  async list(
    scope: Scope,
    { assistantId, isSystem }: Pick<AssistantRecord, 'assistantId' | 'isSystem'>,
    { metadata, limit, offset }: VersionSearch,
    until: AbortSignal,
  ): Promise<AssistantVersionRecord[]> {
    await requireSearchable(this.#cipher, { metadata }, JSON_PLACES.assistantMetadata);
    const list = Prisma.sql`
      SELECT ${VERSION_COLUMNS} FROM assistant_version
      WHERE assistant_id = ${assistantId}::uuid AND metadata @> ${toSqlJson(metadata ?? {})}::jsonb
        AND ${whereInScope(isSystem ? UNRESTRICTED : scope, METADATA)}
      ORDER BY version DESC LIMIT ${limit} OFFSET ${offset}`;
    const { rows } = await this.#room.readWhole(until, async (maxBytes) =>
      toSizedRows<AssistantVersionRecord>(
        await this.#prisma.$queryRaw(Prisma.sql(ASSISTANTS_WITHIN_BYTES, list, maxBytes)),
      ),
    );
    return rows.map((row) => replaceJson(row, this.#cipher.json.decryptListed));
  }

  /**
   * Adds a version and makes it current. Changes of one assistant happen one after the other. Returns undefined when
   * there is no such assistant. @throws EncryptionError when it cannot be decrypted, EncryptionUnavailableError
   */
  async change(scope: Scope, assistantId: string, change: Change): Promise<AssistantRecord | undefined> {
    const encrypt = await encryptAhead({
      cipher: this.#cipher,
      plain: async () => contentOf(await this.#find(this.#prisma, scope, assistantId), change),
      encrypt: (content) => encryptJson(content, this.#cipher),
    });
    return this.#prisma.$transaction(async (tx) => {
      const current = await this.#find(tx, scope, assistantId, Prisma.sql`FOR UPDATE`);
      const content = contentOf(current, change);
      if (!content) return current;
      const version = (await newestVersion(tx, assistantId)) + 1;
      const { projectSettings, ...stored } = await encrypt(content);
      await tx.assistantVersion.create({ data: { assistantId, version, ...toStorable(stored) } });
      if (projectSettings)
        await tx.assistant.update({ where: { assistantId }, data: { projectSettings, isSystem: true } });
      // Versions of a default assistant are for all, and these were their maker's.
      if (projectSettings && !current?.isSystem) {
        await tx.assistantVersion.deleteMany({ where: { assistantId, version: { lt: version } } });
      }
      return this.#makeLatest(tx, scope, assistantId, version);
    });
  }

  /** Makes a version current again; undefined when the assistant has no such version, or has it from another owner. */
  async setLatest(scope: Scope, assistantId: string, version: number): Promise<AssistantRecord | undefined> {
    return this.#prisma.$transaction(async (tx) =>
      (await this.#find(tx, scope, assistantId, Prisma.sql`FOR UPDATE`))
        ? this.#makeLatest(tx, scope, assistantId, version)
        : undefined,
    );
  }

  /** @param lock the clause that locks its row */
  async #find(
    tx: Prisma.TransactionClient,
    scope: Scope,
    assistantId: string,
    lock = Prisma.empty,
  ): Promise<AssistantRecord | undefined> {
    const rows = await tx.$queryRaw<AssistantRecord[]>`
      SELECT ${ASSISTANT_COLUMNS} FROM assistant
      WHERE assistant_id = ${assistantId}::uuid AND ${this.#visibility.whereChangeable(scope)} ${lock}`;
    return this.#decryptFirst(rows);
  }

  async #makeLatest(
    tx: Prisma.TransactionClient,
    scope: Scope,
    assistantId: string,
    version: number,
  ): Promise<AssistantRecord | undefined> {
    const ofVersion = Prisma.sql`FROM assistant_version
      WHERE assistant_id = ${assistantId}::uuid AND version = ${version} AND ${whereInScope(scope, METADATA)}`;
    const rows = await tx.$queryRaw<AssistantRecord[]>`
      UPDATE assistant
      SET (version, graph_id, name, description, config, context, metadata) =
            (SELECT version, graph_id, name, description, config, context, metadata ${ofVersion}),
          updated_at = now()
      WHERE assistant_id = ${assistantId}::uuid AND EXISTS (SELECT 1 ${ofVersion})
      RETURNING ${ASSISTANT_COLUMNS}`;
    return this.#decryptFirst(rows);
  }

  #decryptFirst([row]: AssistantRecord[]): AssistantRecord | undefined {
    return row && replaceJson(row, this.#cipher.json.decrypt);
  }
}

/** Returns the content of the new version, with the settings of the project if those are to be stored as well. */
function contentOf(current: AssistantRecord | undefined, change: Change) {
  const changed = current && change(current);
  return changed && { ...changed.content, projectSettings: changed.projectSettings };
}

async function newestVersion(tx: Prisma.TransactionClient, assistantId: string): Promise<number> {
  const { _max } = await tx.assistantVersion.aggregate({ where: { assistantId }, _max: { version: true } });
  return _max.version ?? 0;
}
