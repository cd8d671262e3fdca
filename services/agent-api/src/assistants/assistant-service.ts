import { randomUUID } from 'node:crypto';
import {
  type Assistant,
  type AssistantCountRequest,
  type AssistantCreate,
  type AssistantSearchRequest,
  withoutReservedMetadata,
} from '@runyard/contracts';
import { BadRequestError, ConflictError, NotFoundError } from '@runyard/service-kit';
import type { Page } from '../pagination.ts';
import type { Scope } from '../scope.ts';
import { toWireAssistant } from './assistant-record.ts';
import type { AssistantStore } from './assistant-store.ts';

export class AssistantService {
  readonly #store: AssistantStore;
  readonly #graphIds: readonly string[];

  constructor(options: { store: AssistantStore; graphIds: readonly string[] }) {
    this.#store = options.store;
    this.#graphIds = options.graphIds;
  }

  /** @throws NotFoundError for an unknown graph, ConflictError for a taken id, BadRequestError */
  async create(scope: Scope, request: AssistantCreate): Promise<Assistant> {
    if (!this.#graphIds.includes(request.graph_id)) {
      throw new NotFoundError(`Graph '${request.graph_id}' not found. Expected one of: ${this.#graphIds.join(', ')}`);
    }
    const assistantId = request.assistant_id ?? randomUUID();
    const isNew = await this.#store.insert({
      assistantId,
      graphId: request.graph_id,
      name: request.name ?? 'Untitled',
      description: request.description ?? null,
      ...mirrored(request),
      metadata: { ...withoutReservedMetadata(request.metadata ?? {}), ...scope },
      isSystem: false,
    });
    if (!isNew && request.if_exists !== 'do_nothing') throw taken(assistantId);
    const assistant = await this.#store.find(scope, assistantId);
    // The id belongs to somebody this caller may not see.
    if (!assistant) throw taken(assistantId);
    return toWireAssistant(assistant);
  }

  /** @throws NotFoundError */
  async get(scope: Scope, assistantId: string): Promise<Assistant> {
    const assistant = await this.#store.find(scope, assistantId);
    if (!assistant) throw new NotFoundError(`Assistant with ID ${assistantId} not found`);
    return toWireAssistant(assistant);
  }

  async search(scope: Scope, request: AssistantSearchRequest): Promise<Page<Partial<Assistant>>> {
    const page = await this.#store.search(scope, {
      ...request,
      limit: request.limit ?? 10,
      offset: request.offset ?? 0,
    });
    return { ...page, rows: page.rows.map((row) => select(toWireAssistant(row), request.select)) };
  }

  count(scope: Scope, request: AssistantCountRequest): Promise<number> {
    return this.#store.count(scope, request);
  }
}

/** What a caller gives as `configurable` stands in `context` too and the other way round. */
function mirrored({ config = {}, context = {} }: AssistantCreate): { config: object; context: object } {
  const configurable = config.configurable ?? {};
  const hasContext = Object.keys(context).length > 0;
  if (hasContext && Object.keys(configurable).length > 0) {
    throw new BadRequestError(
      'Cannot specify both configurable and context. Prefer setting context alone: it replaces configurable.',
    );
  }
  if (hasContext) return { config: { ...config, configurable: context }, context };
  return { config, context: configurable };
}

function select(assistant: Assistant, fields: AssistantSearchRequest['select']): Partial<Assistant> {
  if (!fields) return assistant;
  return Object.fromEntries(fields.map((field) => [field, assistant[field]]));
}

function taken(assistantId: string): ConflictError {
  return new ConflictError(`Assistant ${assistantId} already exists`);
}
