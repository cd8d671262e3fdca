import type { AssistantCountRequest, AssistantSearchRequest } from '@runyard/contracts';
import { toSqlJson, toSqlText } from '@runyard/database';
import { EXACT_TOTAL_MAX, type Page, toPage, totalIfKnown } from '../pagination.ts';
import { Prisma, type PrismaClient } from '../prisma.ts';
import type { Scope } from '../scope.ts';
import type { AssistantRecord } from './assistant-record.ts';

export interface NewAssistant {
  assistantId: string;
  graphId: string;
  name: string;
  description: string | null;
  config: object;
  context: object;
  metadata: object;
  isSystem: boolean;
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

const COLUMNS = Prisma.raw(`assistant_id AS "assistantId", graph_id AS "graphId", name, description, config, context,
  metadata, version, is_system AS "isSystem", created_at AS "createdAt", updated_at AS "updatedAt"`);

/**
 * Assistants in Postgres. A graph's own (system) assistant is visible to everybody as long as the project has the graph;
 * the rows of graphs that a revision took out stay, so that going back to an older revision finds them again.
 */
export class AssistantStore {
  readonly #prisma: PrismaClient;
  readonly #graphIds: readonly string[];

  constructor(prisma: PrismaClient, graphIds: readonly string[]) {
    this.#prisma = prisma;
    this.#graphIds = graphIds;
  }

  /** Writes the assistant with its first version; false when the id is taken, and then nothing is written. */
  async insert(assistant: NewAssistant): Promise<boolean> {
    const { isSystem, ...version } = storable(assistant);
    return this.#prisma.$transaction(async (tx) => {
      const { count } = await tx.assistant.createMany({ data: [{ ...version, isSystem }], skipDuplicates: true });
      if (count === 0) return false;
      await tx.assistantVersion.create({ data: { ...version, version: 1 } });
      return true;
    });
  }

  async find(scope: Scope, assistantId: string): Promise<AssistantRecord | undefined> {
    const rows = await this.#prisma.$queryRaw<AssistantRecord[]>`
      SELECT ${COLUMNS} FROM assistant WHERE assistant_id = ${assistantId}::uuid AND ${this.#visible(scope)}`;
    return rows[0];
  }

  async search(scope: Scope, search: Search): Promise<Page<AssistantRecord>> {
    const where = this.#matching(scope, search);
    const order = Prisma.raw(
      `${SORT_COLUMNS[search.sort_by ?? 'created_at']} ${search.sort_order === 'asc' ? 'ASC' : 'DESC'}, assistant_id`,
    );
    const rows = await this.#prisma.$queryRaw<AssistantRecord[]>`
      SELECT ${COLUMNS} FROM assistant WHERE ${where}
      ORDER BY ${order} LIMIT ${search.limit + 1} OFFSET ${search.offset}`;
    return toPage(rows, search, totalIfKnown(rows, search) ?? (await this.#count(where, EXACT_TOTAL_MAX + 1)));
  }

  async count(scope: Scope, filters: Filters): Promise<number> {
    return this.#count(this.#matching(scope, filters));
  }

  async #count(where: Prisma.Sql, atMost?: number): Promise<number> {
    const limit = atMost === undefined ? Prisma.empty : Prisma.sql`LIMIT ${atMost}`;
    const [row] = await this.#prisma.$queryRaw<{ total: bigint }[]>`
      SELECT count(*) AS total FROM (SELECT 1 FROM assistant WHERE ${where} ${limit}) AS matching`;
    return Number(row?.total ?? 0);
  }

  #matching(scope: Scope, { metadata, graph_id, name }: Filters): Prisma.Sql {
    const conditions = [this.#visible(scope)];
    if (metadata && Object.keys(metadata).length > 0) {
      conditions.push(Prisma.sql`metadata @> ${toSqlJson(metadata)}::jsonb`);
    }
    if (graph_id !== undefined) conditions.push(Prisma.sql`graph_id = ${toSqlText(graph_id)}`);
    if (name) conditions.push(Prisma.sql`name ILIKE ${`%${toSqlText(name).replace(/[\\%_]/g, '\\$&')}%`}`);
    return Prisma.join(conditions, ' AND ');
  }

  #visible(scope: Scope): Prisma.Sql {
    return Prisma.sql`CASE WHEN is_system THEN graph_id = ANY(${this.#graphIds})
                           ELSE metadata @> ${toSqlJson(scope)}::jsonb END`;
  }
}

/** Postgres has no U+0000: it becomes U+FFFD, in text and inside JSON. */
function storable(assistant: NewAssistant): NewAssistant {
  const json = (value: object) => JSON.parse(toSqlJson(value)) as object;
  return {
    ...assistant,
    name: toSqlText(assistant.name),
    description: assistant.description === null ? null : toSqlText(assistant.description),
    config: json(assistant.config),
    context: json(assistant.context),
    metadata: json(assistant.metadata),
  };
}
