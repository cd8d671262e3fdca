import { randomUUID } from 'node:crypto';
import {
  type Assistant,
  type AssistantCountRequest,
  type AssistantCreate,
  type AssistantPatch,
  type AssistantSearchRequest,
  type AssistantVersion,
  type AssistantVersionsSearchRequest,
  withoutReservedMetadata,
} from '@runyard/contracts';
import type { KeyedRequest } from '@runyard/idempotency';
import { ConflictError, ForbiddenError, NotFoundError } from '@runyard/service-kit';
import { isInScope, type Scope, withinScope } from '../access/scope.ts';
import type { Page } from '../http/pagination.ts';
import { configurationOf, mergeConfiguration } from './assistant-configuration.ts';
import type { AssistantIds } from './assistant-ids.ts';
import { type AssistantContent, type AssistantRecord, toWireAssistant, toWireVersion } from './assistant-record.ts';
import type { AssistantRemoval, AssistantRemovalRequest } from './assistant-removal.ts';
import type { AssistantStore, InsertedAssistant } from './assistant-store.ts';
import type { AssistantVersionStore } from './assistant-version-store.ts';

export interface AssistantServiceOptions {
  ids: AssistantIds;
  store: AssistantStore;
  versions: AssistantVersionStore;
  removal: AssistantRemoval;
}

/**
 * Serves what clients do with assistants. Every `idOrGraph` is an assistant's id, or a graph's for its default
 * assistant; anything else is an UnprocessableError.
 */
export class AssistantService {
  readonly #ids: AssistantIds;
  readonly #store: AssistantStore;
  readonly #versions: AssistantVersionStore;
  readonly #removal: AssistantRemoval;

  constructor({ ids, store, versions, removal }: AssistantServiceOptions) {
    this.#ids = ids;
    this.#store = store;
    this.#versions = versions;
    this.#removal = removal;
  }

  /**
   * Creates an assistant. One that exists already is answered if it is in the scope of `existing` too.
   *
   * @throws NotFoundError for an unknown graph, ConflictError for a taken id, BadRequestError, ForbiddenError
   */
  async create(
    scope: Scope,
    request: AssistantCreate,
    { existing = scope, keyed }: { existing?: Scope; keyed?: KeyedRequest | undefined } = {},
  ): Promise<Assistant> {
    this.#ids.requireGraph(request.graph_id);
    const assistantId = request.assistant_id ?? randomUUID();
    const content = {
      assistantId,
      graphId: request.graph_id,
      name: request.name ?? 'Untitled',
      description: request.description ?? null,
      ...configurationOf(request),
      metadata: withinScope(withoutReservedMetadata(request.metadata ?? {}), scope),
    };
    const answerOf = ({ assistant, isNew }: InsertedAssistant): Assistant => {
      // The id is taken, perhaps by an assistant that this caller may not see.
      if (!assistant) throw assistantExists(assistantId);
      const isShown = isNew || (request.if_exists === 'do_nothing' && isVisible(assistant, existing));
      if (!isShown) throw assistantExists(assistantId);
      return toWireAssistant(assistant);
    };
    return this.#store.create(scope, content, answerOf, keyed);
  }

  /** @throws NotFoundError */
  async get(scope: Scope, idOrGraph: string): Promise<Assistant> {
    return toWireAssistant(await this.find(scope, idOrGraph));
  }

  /** Returns the row itself. @throws NotFoundError */
  async find(scope: Scope, idOrGraph: string): Promise<AssistantRecord> {
    const assistantId = this.#ids.idOf(idOrGraph);
    return requireAssistant(assistantId, await this.#store.find(scope, assistantId));
  }

  /** @param until the signal that its answer is complete @throws UnprocessableError, PayloadTooLargeError */
  async search(scope: Scope, request: AssistantSearchRequest, until: AbortSignal): Promise<Page<Partial<Assistant>>> {
    const search = { ...request, limit: request.limit ?? 10, offset: request.offset ?? 0 };
    const page = await this.#store.search(scope, search, until);
    return { ...page, rows: page.rows.map((row) => select(toWireAssistant(row), request.select)) };
  }

  count(scope: Scope, request: AssistantCountRequest): Promise<number> {
    return this.#store.count(scope, request);
  }

  /** @throws NotFoundError, BadRequestError */
  async patch(scope: Scope, idOrGraph: string, request: AssistantPatch): Promise<Assistant> {
    const assistantId = this.#ids.idOf(idOrGraph);
    if (request.graph_id !== undefined) this.#ids.requireGraph(request.graph_id);
    const patched = await this.#versions.change(scope, assistantId, (current) => ({
      content: patchContent(current, request, scope),
    }));
    return toWireAssistant(requireAssistant(assistantId, patched));
  }

  /** @throws NotFoundError, ForbiddenError for the default assistant of a graph, which everybody uses */
  async delete(scope: Scope, idOrGraph: string, options: AssistantRemovalRequest = {}): Promise<void> {
    const assistantId = this.#ids.idOf(idOrGraph);
    const found = await this.#store.findRemovable(scope, assistantId);
    const { graphId, isSystem } = requireAssistant(assistantId, found);
    if (isSystem)
      throw new ForbiddenError(`The default assistant of graph '${graphId}' cannot be deleted`, {
        code: 'default_assistant_protected',
      });
    await this.#requireChangeable(scope, assistantId);
    await this.#removal.remove(scope, assistantId, options);
  }

  /** @param until the signal that its answer is complete @throws NotFoundError, PayloadTooLargeError */
  async listVersions(
    scope: Scope,
    idOrGraph: string,
    request: AssistantVersionsSearchRequest,
    until: AbortSignal,
  ): Promise<AssistantVersion[]> {
    const assistant = await this.find(scope, idOrGraph);
    const { metadata, limit = 10, offset = 0 } = request;
    return (await this.#versions.list(scope, assistant, { metadata, limit, offset }, until)).map(toWireVersion);
  }

  /** @throws NotFoundError */
  async setLatest(scope: Scope, idOrGraph: string, version: number): Promise<Assistant> {
    const assistantId = this.#ids.idOf(idOrGraph);
    await this.#requireChangeable(scope, assistantId);
    const assistant = await this.#versions.setLatest(scope, assistantId, version);
    if (!assistant) throw new NotFoundError(`Version ${version} not found for assistant ${assistantId}`);
    return toWireAssistant(assistant);
  }

  async #requireChangeable(scope: Scope, assistantId: string): Promise<void> {
    if (!(await this.#store.isChangeable(scope, assistantId))) throw assistantNotFound(assistantId);
  }
}

function patchContent(current: AssistantRecord, request: AssistantPatch, scope: Scope): AssistantContent {
  return {
    graphId: request.graph_id ?? current.graphId,
    name: request.name ?? current.name,
    description: request.description === undefined ? current.description : request.description,
    ...mergeConfiguration(current, request),
    metadata: withinScope({ ...current.metadata, ...withoutReservedMetadata(request.metadata ?? {}) }, scope),
  };
}

/** Returns whether an assistant that was found is in the scope. Default assistants are for all. */
function isVisible({ isSystem, metadata }: AssistantRecord, scope: Scope): boolean {
  return isSystem || isInScope(metadata, scope);
}

function select(assistant: Assistant, fields: AssistantSearchRequest['select']): Partial<Assistant> {
  if (!fields) return assistant;
  return Object.fromEntries(fields.map((field) => [field, assistant[field]]));
}

function requireAssistant<T>(assistantId: string, assistant: T | undefined): T {
  if (!assistant) throw assistantNotFound(assistantId);
  return assistant;
}

function assistantNotFound(assistantId: string): NotFoundError {
  return new NotFoundError(`Assistant with ID ${assistantId} not found`);
}

function assistantExists(assistantId: string): ConflictError {
  return new ConflictError(`Assistant ${assistantId} already exists`, { code: 'assistant_exists' });
}
