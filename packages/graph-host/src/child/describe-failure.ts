/** Turns what user code throws while loading into text for its author. */
import { GraphLoadError } from '../errors.ts';

const SHOWN_FRAMES = 5;
/** Where this file lies: frames from here and below are the host's own. */
const OWN_FILES = new URL('.', import.meta.url).pathname;

/** "Graph "agent" did not load: TypeError: … at src/agent.ts:3:7", paths relative to the project. */
export function describeLoadFailure(subject: string, error: unknown, directory: string): string {
  if (error instanceof GraphLoadError) return `${subject} did not load: ${error.message}`;
  const lines = [`${subject} did not load: ${oneError(error)}`, ...framesOf(error)];
  let cause = error instanceof Error ? error.cause : undefined;
  for (let depth = 0; cause !== undefined && cause !== null && depth < 3; depth++) {
    lines.push(`caused by ${oneError(cause)}`, ...framesOf(cause));
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return lines.join('\n').replaceAll(`${directory}/`, '').replaceAll('file://', '');
}

function oneError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.name === 'Error' ? error.message : `${error.name}: ${error.message}`;
}

/** The first frames in the author's own files; stacks are source-mapped by the loader. */
function framesOf(error: unknown): string[] {
  if (!(error instanceof Error) || typeof error.stack !== 'string') return [];
  return error.stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line) && !/node:|node_modules/.test(line) && !line.includes(OWN_FILES))
    .slice(0, SHOWN_FRAMES)
    .map((line) => `    ${line.trim()}`);
}
