import { type InspectionFlags, withInspectedServer } from '../agent-server/inspect.ts';
import type { Json } from '../agent-server/json.ts';
import type { CommandContext } from '../command-context.ts';
import { textOf } from '../output/cells.ts';
import { toJsonLine } from '../output/json-line.ts';
import { formatTable } from '../output/table.ts';

export interface AssistantListFlags extends InspectionFlags {
  graph?: string;
  limit: number;
}

/** Lists assistants, newest first. */
export async function listAssistants(flags: AssistantListFlags, context: CommandContext): Promise<void> {
  const { stdout } = context;
  const { graph, limit, json } = flags;
  await withInspectedServer(flags, context, async (server) => {
    const rows: string[][] = [];
    const wanted = { ...(graph !== undefined && { graph_id: graph }), sort_by: 'created_at', sort_order: 'desc' };
    for await (const assistant of server.searchUpTo<Json>(limit, '/assistants/search', wanted)) {
      if (json) stdout.write(`${toJsonLine(assistant)}\n`);
      else rows.push(rowOf(assistant));
    }
    if (json) return;
    const table = formatTable(['ASSISTANT', 'NAME', 'GRAPH', 'VERSION', 'UPDATED'], rows);
    stdout.write(rows.length === 0 ? 'There are no assistants.\n' : `${table}\n`);
  });
}

function rowOf({ assistant_id, name, graph_id, version, updated_at }: Json): string[] {
  return [assistant_id, name, graph_id, version, updated_at].map(textOf);
}
