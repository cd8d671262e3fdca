import { type InspectionFlags, withInspectedServer } from '../agent-server/inspect.ts';
import { isObject } from '../agent-server/json.ts';
import type { CommandContext } from '../command-context.ts';
import { textOf } from '../output/cells.ts';
import { formatDetails } from '../output/details.ts';
import { toJsonLine } from '../output/json-line.ts';
import { cutLine, summarize } from '../output/summary.ts';
import { getRun, type Run, type RunName } from './run.ts';

const VALUE_MAX = 500;

export async function showRun(name: RunName, flags: InspectionFlags, context: CommandContext): Promise<void> {
  const { stdout } = context;
  await withInspectedServer(flags, context, async (server) => {
    const run = await getRun(server, name);
    stdout.write(`${flags.json ? toJsonLine(run) : formatRun(run)}\n`);
  });
}

function formatRun(run: Run): string {
  const { input, command, context, config } = isObject(run.kwargs) ? run.kwargs : {};
  const reason = typeof run.cancel_reason === 'string' ? [['Cancelled', cutLine(run.cancel_reason, VALUE_MAX)]] : [];
  const details = [
    ['Run', textOf(run.run_id)],
    ['Thread', textOf(run.thread_id)],
    ['Assistant', textOf(run.assistant_id)],
    ['Status', textOf(run.status)],
    ...reason,
    ['Created', textOf(run.created_at)],
    ['Updated', textOf(run.updated_at)],
    ['Strategy', textOf(run.multitask_strategy)],
    ['Metadata', summarize(run.metadata, VALUE_MAX)],
    ['Input', summarize(input, VALUE_MAX)],
    ...(isFilled(command) ? [['Command', summarize(command, VALUE_MAX)]] : []),
    ...(isFilled(context) ? [['Context', summarize(context, VALUE_MAX)]] : []),
    ...(isFilled(config) ? [['Config', summarize(config, VALUE_MAX)]] : []),
  ];
  return formatDetails(details as [string, string][]);
}

function isFilled(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length > 0;
}
