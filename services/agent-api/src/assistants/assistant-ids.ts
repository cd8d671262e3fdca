import { isUuid } from '@runyard/contracts';
import { NotFoundError, UnprocessableError } from '@runyard/service-kit';
import { v5 as uuidv5 } from 'uuid';

/** The UUID namespace of the ids of default assistants, the same on every server. */
const NAMESPACE = '6ba7b821-9dad-11d1-80b4-00c04fd430c8';

/** Returns the id of a graph's default assistant. */
export function systemAssistantId(graphId: string): string {
  return uuidv5(graphId, NAMESPACE);
}

/**
 * Knows the project's graphs and resolves what a client names: an assistant's id, or a graph for its default assistant.
 */
export class AssistantIds {
  readonly graphIds: readonly string[];
  readonly #known: ReadonlySet<string>;

  constructor(graphIds: readonly string[]) {
    this.graphIds = graphIds;
    this.#known = new Set(graphIds);
  }

  /**
   * Returns the id of the assistant that is named.
   *
   * @param idOrGraph an assistant's id, or a graph's for its default assistant
   * @throws UnprocessableError when it can be neither
   */
  idOf(idOrGraph: string): string {
    const id = this.find(idOrGraph);
    if (id !== undefined) return id;
    throw new UnprocessableError(
      `Invalid assistant: '${idOrGraph}'. Must be either:\n- A valid assistant UUID, or\n- One of the registered graphs: ${this.#list()}`,
      { code: 'assistant_invalid' },
    );
  }

  /** Returns the id of the assistant that is named; undefined when it can be none. */
  find(idOrGraph: string): string | undefined {
    if (isUuid(idOrGraph)) return idOrGraph.toLowerCase();
    return this.#known.has(idOrGraph) ? systemAssistantId(idOrGraph) : undefined;
  }

  /** @throws NotFoundError when the project has no such graph */
  requireGraph(graphId: string): void {
    if (this.#known.has(graphId)) return;
    throw new NotFoundError(`Graph '${graphId}' not found. Expected one of: ${this.#list()}`);
  }

  #list(): string {
    return this.graphIds.join(', ');
  }
}
