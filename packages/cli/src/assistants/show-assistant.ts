import { type AgentServer, ServerRefusedError } from '../agent-server/agent-server.ts';
import { type InspectionFlags, withInspectedServer } from '../agent-server/inspect.ts';
import { isObject, type Json } from '../agent-server/json.ts';
import type { CommandContext } from '../command-context.ts';
import { textOf } from '../output/cells.ts';
import { formatDetails } from '../output/details.ts';
import { toJsonLine } from '../output/json-line.ts';
import { cutLine, summarize } from '../output/summary.ts';
import { findAssistant } from './assistant.ts';

const VALUE_MAX = 200;

export interface AssistantShowFlags extends InspectionFlags {
  /** True to show the edges of its graph, too. */
  graph: boolean;
}

/** Shows an assistant with what its graph takes, keeps and answers. */
export async function showAssistant(
  idOrGraph: string,
  flags: AssistantShowFlags,
  context: CommandContext,
): Promise<void> {
  const { stdout } = context;
  await withInspectedServer(flags, context, async (server) => {
    const assistant = await findAssistant(server, idOrGraph);
    const path = `/assistants/${assistant.assistant_id}`;
    const schemas = await readSchemas(server, path);
    const graph = flags.graph ? await server.call<unknown>('GET', `${path}/graph`) : undefined;
    if (flags.json) stdout.write(`${toJsonLine({ ...assistant, schemas, ...(flags.graph && { graph }) })}\n`);
    else {
      const parts = [formatAssistant(assistant, schemas), ...(flags.graph ? [formatGraph(graph)] : [])];
      stdout.write(`${parts.join('\n\n')}\n`);
    }
  });
}

/** Returns null where the server cannot make them, as of a graph whose types it does not find. */
async function readSchemas(server: AgentServer, path: string): Promise<Json | null> {
  try {
    const schemas = await server.call<unknown>('GET', `${path}/schemas`);
    return isObject(schemas) ? schemas : null;
  } catch (error) {
    if (error instanceof ServerRefusedError && (error.status === 404 || error.status === 500)) return null;
    throw error;
  }
}

function formatAssistant(assistant: Json, schemas: Json | null): string {
  const { description, config, context, metadata } = assistant;
  return formatDetails([
    ['Assistant', textOf(assistant.assistant_id)],
    ['Name', textOf(assistant.name)],
    ['Graph', textOf(assistant.graph_id)],
    ['Version', textOf(assistant.version)],
    ['Description', typeof description === 'string' ? cutLine(description, VALUE_MAX) : '-'],
    ['Created', textOf(assistant.created_at)],
    ['Updated', textOf(assistant.updated_at)],
    ['Config', summarize(config, VALUE_MAX)],
    ['Context', summarize(context, VALUE_MAX)],
    ['Metadata', summarize(metadata, VALUE_MAX)],
    ...(schemas
      ? SCHEMAS.flatMap(([label, key]) => propertiesOf(schemas[key], label))
      : ([['Schemas', 'the server cannot make them']] as const)),
  ]);
}

const SCHEMAS = [
  ['Takes', 'input_schema'],
  ['Keeps', 'state_schema'],
  ['Answers', 'output_schema'],
  ['Context of', 'context_schema'],
] as const;

/** Lists the properties of a JSON schema with their types, a line each. */
function propertiesOf(schema: unknown, label: string): [string, string][] {
  const properties = isObject(schema) && isObject(schema.properties) ? Object.entries(schema.properties) : [];
  return properties.map(([name, property], index) => [
    index === 0 ? label : '',
    `${cutLine(name, VALUE_MAX)}: ${typeOf(property)}`,
  ]);
}

function typeOf(property: unknown): string {
  const { type, $ref: reference } = isObject(property) ? property : {};
  if (typeof reference === 'string') return cutLine(reference.replace(/^.*\//, ''), VALUE_MAX);
  return type === undefined ? 'any' : cutLine([type].flat().map(String).join(' | '), VALUE_MAX);
}

function formatGraph(graph: unknown): string {
  const edges = isObject(graph) && Array.isArray(graph.edges) ? graph.edges.filter(isObject) : [];
  return edges.length === 0 ? 'The graph has no edges.' : edges.map(formatEdge).join('\n');
}

function formatEdge({ source, target, conditional, data }: Json): string {
  const condition = data === undefined || data === null ? '' : ` (${summarize(data, VALUE_MAX)})`;
  return `${textOf(source)} ${conditional === true ? '-?' : '--'}> ${textOf(target)}${condition}`;
}
