/** A process of a revision says this when it ends because the project does not load. */
const START_FAILED = 'start failed: ';
/** A line of a process; further lines of the same entry, of a stack or of code, have another beginning. */
const ENTRY = /^ {2}(agent-api|run-worker)(-\d+)?: /;

/**
 * Returns the part of a failed revision's reason that its author needs: the error of the project with its file and
 * line, once, without what the processes say besides. The whole reason where no process says why.
 */
export function loadErrorOf(reason: string): string {
  const lines = reason.split('\n');
  const first = lines.findIndex((line) => ENTRY.test(line) && line.includes(START_FAILED));
  if (first === -1) return reason;
  const next = lines.findIndex((line, index) => index > first && ENTRY.test(line));
  const [line, ...rest] = lines.slice(first, next === -1 ? undefined : next);
  return [line!.slice(line!.indexOf(START_FAILED) + START_FAILED.length), ...rest].join('\n');
}
