import type { AgentServer } from '../agent-server/agent-server.ts';
import { type InspectionFlags, withInspectedServer } from '../agent-server/inspect.ts';
import { isObject, type Json } from '../agent-server/json.ts';
import { formatCheckpoints, listCheckpoints } from '../checkpoints/checkpoints.ts';
import { CliError, ExitCode } from '../cli-error.ts';
import type { CommandContext } from '../command-context.ts';
import { textOf } from '../output/cells.ts';
import { formatDetails } from '../output/details.ts';
import { toJsonLine } from '../output/json-line.ts';
import { cutLine, summarize } from '../output/summary.ts';
import { listRuns, type Run } from '../runs/run.ts';
import { formatRuns } from '../runs/run-table.ts';

const VALUE_MAX = 200;
const RUNS = 5;

export interface ThreadShowFlags extends InspectionFlags {
  /** How many of the newest checkpoints are shown. */
  checkpoints: number;
}

/** Shows a thread with its values, what it waits for, its last runs and, if asked for, its checkpoints. */
export async function showThread(threadId: string, flags: ThreadShowFlags, context: CommandContext): Promise<void> {
  const { stdout } = context;
  await withInspectedServer(flags, context, async (server) => {
    const thread = await getThread(server, threadId);
    const runs = await listRuns(server, threadId, { limit: RUNS });
    const checkpoints = flags.checkpoints > 0 ? await listCheckpoints(server, threadId, flags.checkpoints) : undefined;
    if (flags.json) stdout.write(`${toJsonLine({ ...thread, runs, ...(checkpoints && { checkpoints }) })}\n`);
    else {
      const parts = [
        formatThread(thread),
        formatLastRuns(runs),
        ...(checkpoints ? [formatCheckpoints(checkpoints)] : []),
      ];
      stdout.write(`${parts.join('\n\n')}\n`);
    }
  });
}

/** @throws CliError where there is no such thread */
async function getThread(server: AgentServer, threadId: string): Promise<Json> {
  const thread = await server.find<unknown>(`/threads/${threadId}`);
  if (thread === undefined) throw new CliError(`There is no thread ${threadId} at ${server.url}.`, ExitCode.notFound);
  if (isObject(thread)) return thread;
  throw new CliError(`GET /threads/${threadId} of ${server.url} was not answered with a thread.`);
}

function formatThread(thread: Json): string {
  const { graph_id: graph, ...metadata } = isObject(thread.metadata) ? thread.metadata : {};
  return formatDetails([
    ['Thread', textOf(thread.thread_id)],
    ['Status', textOf(thread.status)],
    ['Graph', textOf(graph)],
    ['Created', textOf(thread.created_at)],
    ['Updated', textOf(thread.updated_at)],
    ['Metadata', summarize(metadata, VALUE_MAX)],
    ...fieldsOf(thread.values, 'Values'),
    ...fieldsOf(thread.interrupts, 'Interrupts'),
    ...(thread.error ? ([['Error', summarize(thread.error, VALUE_MAX)]] as const) : []),
  ]);
}

/** Shows each field of an object in a line of its own, any other value in one. */
function fieldsOf(value: unknown, label: string): [string, string][] {
  if (!isObject(value)) return [[label, value === undefined ? '-' : summarize(value, VALUE_MAX)]];
  const fields = Object.entries(value).map(
    ([key, field]) => `${cutLine(key, VALUE_MAX)}: ${summarize(field, VALUE_MAX)}`,
  );
  return fields.length === 0 ? [[label, '-']] : fields.map((field, index) => [index === 0 ? label : '', field]);
}

function formatLastRuns(runs: Run[]): string {
  return runs.length === 0 ? 'It has no runs.' : formatRuns(runs);
}
