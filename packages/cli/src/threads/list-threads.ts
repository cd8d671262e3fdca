import { type InspectionFlags, withInspectedServer } from '../agent-server/inspect.ts';
import { isObject, type Json } from '../agent-server/json.ts';
import type { CommandContext } from '../command-context.ts';
import { textOf } from '../output/cells.ts';
import { toJsonLine } from '../output/json-line.ts';
import { summarize } from '../output/summary.ts';
import { formatTable } from '../output/table.ts';

export interface ThreadListFlags extends InspectionFlags {
  status?: string;
  metadata?: Record<string, unknown>;
  limit: number;
}

/** The fields of the table: values may be large. */
const SHOWN = ['thread_id', 'status', 'created_at', 'updated_at', 'metadata'];
const METADATA_MAX = 60;

/** Lists threads, the one that changed last first. */
export async function listThreads(flags: ThreadListFlags, context: CommandContext): Promise<void> {
  const { stdout } = context;
  const { status, metadata, limit, json } = flags;
  const wanted = {
    ...(status !== undefined && { status }),
    ...(metadata !== undefined && { metadata }),
    ...(!json && { select: SHOWN }),
    sort_by: 'updated_at',
    sort_order: 'desc',
  };
  await withInspectedServer(flags, context, async (server) => {
    const rows: string[][] = [];
    for await (const thread of server.searchUpTo<Json>(limit, '/threads/search', wanted)) {
      if (json) stdout.write(`${toJsonLine(thread)}\n`);
      else rows.push(rowOf(thread));
    }
    if (json) return;
    const table = formatTable(['THREAD', 'STATUS', 'GRAPH', 'UPDATED', 'METADATA'], rows);
    stdout.write(rows.length === 0 ? 'There are no threads.\n' : `${table}\n`);
  });
}

function rowOf({ thread_id, status, updated_at, metadata }: Json): string[] {
  const { graph_id: graph, assistant_id: _, ...others } = isObject(metadata) ? metadata : {};
  const rest = Object.keys(others).length > 0 ? summarize(others, METADATA_MAX) : '-';
  return [...[thread_id, status, graph, updated_at].map(textOf), rest];
}
