import { type InspectionFlags, withInspectedServer } from '../agent-server/inspect.ts';
import type { CommandContext } from '../command-context.ts';
import { toJsonLine } from '../output/json-line.ts';
import { listRuns, type Run } from './run.ts';
import { formatRuns } from './run-table.ts';

/** Runs that are asked for at once: each may have a large input. */
const PAGE = 100;

export interface RunListFlags extends InspectionFlags {
  status?: string;
  limit: number;
}

/** Lists the runs of a thread, newest first. */
export async function showRuns(threadId: string, flags: RunListFlags, context: CommandContext): Promise<void> {
  const { stdout } = context;
  await withInspectedServer(flags, context, async (server) => {
    const rows: Run[] = [];
    let count = 0;
    while (count < flags.limit) {
      const { status } = flags;
      const limit = Math.min(PAGE, flags.limit - count);
      const page = await listRuns(server, threadId, { limit, offset: count, ...(status !== undefined && { status }) });
      count += page.length;
      if (flags.json) for (const run of page) stdout.write(`${toJsonLine(run)}\n`);
      // The table needs none of a run's arguments.
      else for (const { kwargs: _, metadata: __, ...run } of page) rows.push(run as Run);
      if (page.length < limit) break;
    }
    if (!flags.json) stdout.write(rows.length === 0 ? 'There are no runs.\n' : `${formatRuns(rows)}\n`);
  });
}
