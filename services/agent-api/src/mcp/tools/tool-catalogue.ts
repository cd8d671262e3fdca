import type { Scope } from '../../access/scope.ts';
import type { AssistantTools } from '../../assistants/assistant-tools.ts';
import type { RememberedSchemas } from '../../assistants/remembered-schemas.ts';
import { invalidParams } from '../protocol/mcp-error.ts';
import { toolInput } from './input-schema.ts';
import { type ListedTool, type Tool, toListedTool, toTool } from './tool.ts';

const PAGE = 100;

/** Knows the tools that a caller sees. */
export class ToolCatalogue {
  readonly #assistants: Pick<AssistantTools, 'find' | 'list'>;
  readonly #schemas: Pick<RememberedSchemas, 'of'>;

  constructor(assistants: Pick<AssistantTools, 'find' | 'list'>, schemas: Pick<RememberedSchemas, 'of'>) {
    this.#assistants = assistants;
    this.#schemas = schemas;
  }

  /** Returns a page, in an order that does not change. @throws McpError for a cursor of another list */
  async list(
    scope: Scope,
    cursor: string | undefined,
  ): Promise<{ tools: ListedTool[]; nextCursor: string | undefined }> {
    const rows = await this.#assistants.list(scope, { after: readCursor(cursor), limit: PAGE + 1 });
    const page = rows.slice(0, PAGE);
    const tools = await Promise.all(page.map(async (row) => toListedTool(row, await this.#schemas.of(row))));
    const last = rows.length > PAGE ? page.at(-1) : undefined;
    return {
      tools: tools.filter((tool) => tool !== undefined),
      nextCursor: last && Buffer.from(last.toolName).toString('base64url'),
    };
  }

  /**
   * Finds a tool by its name. It waits for the schema, as a list does: by it every process takes the arguments of a call
   * for the same input. @throws McpError
   */
  async require(scope: Scope, name: string): Promise<Tool> {
    const assistant = await this.#assistants.find(scope, name);
    if (!assistant) throw unknownTool();
    const { input } = await this.#schemas.of(assistant);
    return toTool(assistant, input && toolInput(input));
  }
}

export function unknownTool() {
  return invalidParams('Unknown tool');
}

/** @throws McpError */
function readCursor(cursor: string | undefined): string {
  if (cursor === undefined) return '';
  const name = Buffer.from(cursor, 'base64url').toString();
  if (/^[\w.-]{1,128}$/.test(name)) return name;
  throw invalidParams('cursor is none of this list');
}
