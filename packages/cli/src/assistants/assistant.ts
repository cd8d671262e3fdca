import { isUuid } from '@runyard/contracts';
import type { AgentServer } from '../agent-server/agent-server.ts';
import { isObject, type Json } from '../agent-server/json.ts';
import { CliError, ExitCode } from '../cli-error.ts';

export interface Assistant extends Json {
  assistant_id: string;
}

/**
 * Finds an assistant by its id, or the default one of a graph by the graph's name.
 *
 * @throws CliError where there is none
 */
export async function findAssistant(server: AgentServer, idOrGraph: string): Promise<Assistant> {
  const found = isUuid(idOrGraph)
    ? await server.find<unknown>(`/assistants/${idOrGraph}`)
    : await findDefault(server, idOrGraph);
  if (found === undefined) {
    const what = isUuid(idOrGraph) ? `assistant ${idOrGraph}` : `graph ${idOrGraph}`;
    throw new CliError(`There is no ${what} at ${server.url}.`, ExitCode.notFound);
  }
  if (isObject(found) && isUuid(found.assistant_id)) return found as Assistant;
  throw new CliError(`${server.url} answered with something other than an assistant.`);
}

/** The server itself makes one assistant for each graph. */
async function findDefault(server: AgentServer, graph: string): Promise<unknown> {
  const wanted = { graph_id: graph, metadata: { created_by: 'system' } };
  for await (const assistant of server.searchUpTo<unknown>(1, '/assistants/search', wanted)) return assistant;
  return undefined;
}
