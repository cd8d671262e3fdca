import type { NamedAssistant } from '../../assistants/assistant-tools.ts';
import type { AssistantSchemas } from '../../assistants/remembered-schemas.ts';
import { type Fields, isFields } from '../../http/fields.ts';
import type { McpClient } from '../protocol/client.ts';
import { type ToolInput, toolInput, toolOutput } from './input-schema.ts';

/** Calls of a tool become tasks never, where it makes sense, or always. */
const TASK_SUPPORT = ['forbidden', 'optional', 'required'] as const;
type TaskSupport = (typeof TASK_SUPPORT)[number];

/** An assistant as a tool that can be called. */
export interface Tool {
  name: string;
  assistant: NamedAssistant;
  /** Undefined where no schema is found. */
  input: ToolInput | undefined;
  taskSupport: TaskSupport;
}

/** A tool as lists have it. */
export interface ListedTool extends Tool {
  input: ToolInput;
  outputSchema: Fields | undefined;
}

export function toTool(assistant: NamedAssistant, input: ToolInput | undefined): Tool {
  return { name: assistant.toolName, assistant, input, taskSupport: taskSupportOf(assistant.metadata) };
}

/** Returns undefined for an assistant whose input is unknown. */
export function toListedTool(assistant: NamedAssistant, { input, output }: AssistantSchemas): ListedTool | undefined {
  const known = input && toolInput(input);
  return known && { ...toTool(assistant, known), input: known, outputSchema: output && toolOutput(output) };
}

/** Returns a tool in the form of a list for the client's revision. */
export function toToolEntry(tool: ListedTool, { revision }: Pick<McpClient, 'revision'>): object {
  const { name, assistant, input, outputSchema, taskSupport } = tool;
  return {
    name,
    title: assistant.name,
    description: assistant.description || `Tool based on the ${assistant.name} assistant`,
    inputSchema: input.schema,
    ...(outputSchema && hasStructure(revision) && { outputSchema }),
    ...(revision === '2025-11-25' && { execution: { taskSupport } }),
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  };
}

/** Returns whether results of this revision have `structuredContent`. */
export function hasStructure(revision: McpClient['revision']): boolean {
  return revision !== '2025-03-26';
}

function taskSupportOf({ mcp }: Record<string, unknown>): TaskSupport {
  const asked = isFields(mcp) ? mcp.task_support : undefined;
  return TASK_SUPPORT.find((support) => support === asked) ?? 'optional';
}
