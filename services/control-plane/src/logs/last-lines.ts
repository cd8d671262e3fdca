import { describeEntry } from './log-entry.ts';
import type { RevisionLog } from './revision-log.ts';

const SHOWN = 15;

/** What the owner of a failed revision needs to see: what is wrong, and the last lines of its log. */
export function withLastLines(message: string, log: Pick<RevisionLog, 'recent'>): string {
  const lines = log.recent(SHOWN).map((entry) => `  ${describeEntry(entry)}`);
  const sentence = /[.!?]$/.test(message) ? message : `${message}.`;
  return [sentence, ...(lines.length > 0 ? ['The last lines of its log:', ...lines] : [])].join('\n');
}
