import { once } from 'node:events';
import type { ServerSentEvent } from '../agent-server/event-stream.ts';
import type { CommandContext, OutputStream } from '../command-context.ts';
import { createPainter } from '../output/colours.ts';
import { escapeControl, toJsonLine } from '../output/json-line.ts';
import { cutLine, summarize } from '../output/summary.ts';

const NAME_WIDTH = 8;
const NAME_MAX = 60;
const LINE_MAX = 160;
/** Narrower lines would say nothing. */
const LINE_MIN = 40;

/** Prints each event of a run: a line for people, cut to the terminal, or whole as JSON. */
export function createEventPrinter(
  { stdout: out, interrupted }: Pick<CommandContext, 'stdout' | 'interrupted'>,
  isJson: boolean,
): (event: ServerSentEvent) => Promise<void> {
  const paint = createPainter(out);
  const lineOf = ({ event, data }: ServerSentEvent) => {
    const name = cutLine(event, NAME_MAX).padEnd(NAME_WIDTH);
    const width = Math.max((out.columns ?? LINE_MAX) - name.length - 2, LINE_MIN);
    return `${paint(event === 'error' ? 'red' : 'cyan', name)}  ${summarizeData(data, width)}`;
  };
  return (event) => write(out, `${isJson ? toEventLine(event) : lineOf(event)}\n`, interrupted);
}

function summarizeData(data: string, max: number): string {
  try {
    return summarize(JSON.parse(data), max);
  } catch {
    return cutLine(data, max);
  }
}

/** Returns an event as one line. Its data are passed on as they came, so that no number loses a digit. */
function toEventLine({ event, id, data }: ServerSentEvent): string {
  const head = toJsonLine({ event: 'run_event', name: event, ...(id !== undefined && { id }) });
  return `${head.slice(0, -1)},"data":${toOneLine(data)}}`;
}

function toOneLine(data: string): string {
  try {
    JSON.parse(data);
  } catch {
    return toJsonLine(data);
  }
  // Line breaks in valid JSON stand between its parts alone.
  return escapeControl(data.replace(/[\r\n]/g, ' '));
}

/** Waits while the reader is slower than the run, so that nothing piles up. */
async function write(out: OutputStream, text: string, interrupted: AbortSignal): Promise<void> {
  if (out.write(text)) return;
  await once(out, 'drain', { signal: interrupted }).catch((error: unknown) => {
    interrupted.throwIfAborted();
    throw error;
  });
}
