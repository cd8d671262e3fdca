import { NotFoundError, UnprocessableError } from '@runyard/service-kit';
import { UNRESTRICTED } from '../access/scope.ts';
import type { AssistantGraphService } from './assistant-graph-service.ts';
import type { AssistantRecord } from './assistant-record.ts';

/** The JSON schemas of an assistant's graph; undefined where they are unknown. */
export interface AssistantSchemas {
  input: Record<string, unknown> | undefined;
  output: Record<string, unknown> | undefined;
}

/** Versions of assistants whose schemas are remembered. */
const REMEMBERED_MAX = 1_000;
/** Milliseconds after which unknown schemas are looked for again: a busy host may have been too slow. */
const UNKNOWN_MS = 60_000;
const UNKNOWN: AssistantSchemas = { input: undefined, output: undefined };

interface Remembered {
  schemas: Promise<AssistantSchemas>;
  /** The schemas, once they were found. */
  found?: AssistantSchemas;
  /** Milliseconds since 1970. */
  until: number;
}

/** Knows the schemas of assistants. Looking at a graph is slow: answers are remembered, by version. */
export class RememberedSchemas {
  readonly #graphs: Pick<AssistantGraphService, 'schemas'>;
  readonly #remembered = new Map<string, Remembered>();

  constructor(graphs: Pick<AssistantGraphService, 'schemas'>) {
    this.#graphs = graphs;
  }

  /** The caller has found the assistant within its own scope. */
  of({ assistantId, version }: Pick<AssistantRecord, 'assistantId' | 'version'>): Promise<AssistantSchemas> {
    const key = `${assistantId} ${version}`;
    const known = this.#remembered.get(key);
    if (known && known.until > Date.now()) return known.schemas;
    const schemas = this.#look(assistantId);
    const remembered: Remembered = { schemas, until: Number.POSITIVE_INFINITY };
    schemas.then(
      (found) => {
        remembered.found = found;
        if (!found.input) remembered.until = Date.now() + UNKNOWN_MS;
      },
      () => this.#remembered.delete(key),
    );
    this.#remembered.set(key, remembered);
    if (this.#remembered.size > REMEMBERED_MAX) this.#remembered.delete(this.#remembered.keys().next().value!);
    return schemas;
  }

  /** Returns the schemas if they were looked for before: to find them may take a minute. */
  known({ assistantId, version }: Pick<AssistantRecord, 'assistantId' | 'version'>): AssistantSchemas | undefined {
    return this.#remembered.get(`${assistantId} ${version}`)?.found;
  }

  async #look(assistantId: string): Promise<AssistantSchemas> {
    try {
      const { input_schema, output_schema } = await this.#graphs.schemas(
        { scope: UNRESTRICTED, headers: {} },
        assistantId,
      );
      return { input: asSchema(input_schema), output: asSchema(output_schema) };
    } catch (error) {
      if (error instanceof NotFoundError || error instanceof UnprocessableError) return UNKNOWN;
      throw error;
    }
  }
}

function asSchema(schema: unknown): Record<string, unknown> | undefined {
  return typeof schema === 'object' && schema !== null ? (schema as Record<string, unknown>) : undefined;
}
