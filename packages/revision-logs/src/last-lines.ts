import { describeEntry } from './log-entry.ts';
import type { RevisionLog } from './revision-log.ts';

const SHOWN = 15;

/** Returns the message for a failed revision's owner: the error, and the last lines of the log. */
export function withLastLines(message: string, log: Pick<RevisionLog, 'recent'>): string {
  const lines = log.recent(SHOWN).map((entry) => `  ${describeEntry(entry)}`);
  const sentence = /[.!?]$/.test(message) ? message : `${message}.`;
  return [sentence, ...(lines.length > 0 ? ['The last lines of its log:', ...lines] : [])].join('\n');
}
