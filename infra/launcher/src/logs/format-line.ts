import { styleText } from 'node:util';

/** A line of a deployment's log, as data-plane stores it. */
interface LoggedLine {
  source?: string;
  level?: string;
  message?: string;
  threadId?: string;
  graphId?: string;
  fields?: { from?: string; status?: string; ms?: number };
}

const RUN_ENDED = 'run ended';

/** Wide enough for each status of a run. */
const STATUS_WIDTH = 'interrupted'.length;

/** All but line breaks and tabs: a project prints what its users send, which must not steer this terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed
const CONTROL_CHARACTERS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/**
 * Returns a line of a deployment's log for the terminal: each run that has ended, and what the project's code prints or
 * throws. Null for the others, which are about the platform's own processes, unless all are asked for.
 */
export function formatLogLine(json: string, { isVerbose }: { isVerbose: boolean }): string | null {
  const line = parse(json);
  if (line === null) return null;
  const message = plain(line.message ?? '');
  if (message === RUN_ENDED && line.fields?.status !== undefined) return formatRun(line);
  if (line.fields?.from === 'project') return paint(line.level, indent(message));
  return isVerbose ? paint(line.level, indent(`${line.source}  ${message}`)) : null;
}

/** Returns `agent  success      1.20 s  thread 01a2…`. */
function formatRun({ graphId = '', threadId = '', fields: { status = '', ms = 0 } = {} }: LoggedLine): string {
  const shown = status.padEnd(STATUS_WIDTH);
  const seconds = `${(ms / 1000).toFixed(2)} s`.padStart(8);
  return `${plain(graphId)}  ${paintStatus(status, shown)}  ${seconds}  thread ${plain(threadId)}`;
}

function paintStatus(status: string, shown: string): string {
  if (status === 'success') return shown;
  return styleText(status === 'interrupted' ? 'yellow' : 'red', shown);
}

function plain(text: string): string {
  return text.replace(CONTROL_CHARACTERS, '');
}

function paint(level: string | undefined, text: string): string {
  if (level === 'ERROR' || level === 'CRITICAL') return styleText('red', text);
  return level === 'WARNING' ? styleText('yellow', text) : text;
}

/** Lines that belong together stay together. */
function indent(message: string): string {
  return `  ${message.replaceAll('\n', '\n  ')}`;
}

function parse(json: string): LoggedLine | null {
  try {
    return JSON.parse(json) as LoggedLine;
  } catch {
    return null;
  }
}
