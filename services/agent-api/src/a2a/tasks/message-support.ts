import { NotFoundError, UnprocessableError } from '@runyard/service-kit';
import { UNRESTRICTED } from '../../access/scope.ts';
import type { AssistantGraphService } from '../../assistants/assistant-graph-service.ts';
import type { AssistantRecord } from '../../assistants/assistant-record.ts';
import { isFields } from '../../http/fields.ts';
import { A2aError } from '../protocol/a2a-error.ts';

/** Versions of assistants whose schema is remembered. */
const REMEMBERED_MAX = 1_000;

/** Knows the input of assistants by the schemas of their graphs. Looking at a graph is slow: answers are remembered. */
export class MessageSupport {
  readonly #graphs: Pick<AssistantGraphService, 'schemas'>;
  readonly #schemas = new Map<string, Promise<Record<string, unknown> | undefined>>();

  constructor(graphs: Pick<AssistantGraphService, 'schemas'>) {
    this.#graphs = graphs;
  }

  /** Lets an assistant pass whose schema is unknown. @throws A2aError when its graph takes no messages */
  async requireMessages(assistant: AssistantRecord): Promise<void> {
    const schema = await this.inputSchema(assistant);
    if (!isFields(schema?.properties) || Object.hasOwn(schema.properties, 'messages')) return;
    throw new A2aError(
      'INVALID_PARAMS',
      `Assistant ${assistant.assistantId} takes no messages: its graph has no \`messages\`. Send data parts.`,
    );
  }

  /** Returns the JSON schema of the input; undefined when it is unknown. */
  inputSchema({ assistantId, version }: AssistantRecord): Promise<Record<string, unknown> | undefined> {
    const key = `${assistantId} ${version}`;
    let schema = this.#schemas.get(key);
    if (!schema) {
      schema = this.#look(assistantId);
      this.#schemas.set(key, schema);
      schema.catch(() => this.#schemas.delete(key));
      if (this.#schemas.size > REMEMBERED_MAX) this.#schemas.delete(this.#schemas.keys().next().value!);
    }
    return schema;
  }

  async #look(assistantId: string): Promise<Record<string, unknown> | undefined> {
    try {
      // The caller has found the assistant within its own scope.
      const { input_schema: schema } = await this.#graphs.schemas({ scope: UNRESTRICTED, headers: {} }, assistantId);
      return isFields(schema) ? schema : undefined;
    } catch (error) {
      if (error instanceof NotFoundError || error instanceof UnprocessableError) return undefined;
      throw error;
    }
  }
}
