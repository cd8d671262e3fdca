/** Makes texts for the author out of what user code throws. */
import { GraphLoadError } from '@runyard/host-protocol/graph-process';

const SHOWN_FRAMES = 5;
/** Characters of a message: some errors carry a whole document. */
const MESSAGE_MAX = 10_000;
/** The folder of this file: frames in and below it are the host's own. */
const OWN_FILES = new URL('.', import.meta.url).pathname;

/** Returns `Graph "agent" did not load: TypeError: … at src/agent.ts:3:7`, with paths relative to the project. */
export function describeLoadFailure(subject: string, error: unknown, directory: string): string {
  if (error instanceof GraphLoadError) return `${subject} did not load: ${error.message}`;
  return describeFailure(`${subject} did not load`, error, directory);
}

/**
 * Returns the same for code that has loaded: `The run failed: TypeError: … at src/agent.ts:3:7`. Never throws, whatever
 * was thrown.
 */
export function describeRunFailure(error: unknown, directory: string): string {
  try {
    return describeFailure('The run failed', error, directory);
  } catch {
    return 'The run failed with something that cannot be shown.';
  }
}

function describeFailure(what: string, error: unknown, directory: string): string {
  const lines = [`${what}: ${describeOneError(error)}`, ...framesOf(error)];
  let cause = error instanceof Error ? error.cause : undefined;
  for (let depth = 0; cause !== undefined && cause !== null && depth < 3; depth++) {
    lines.push(`caused by ${describeOneError(cause)}`, ...framesOf(cause));
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return lines.join('\n').replaceAll(`${directory}/`, '').replaceAll('file://', '');
}

function describeOneError(error: unknown): string {
  if (!(error instanceof Error)) return clip(String(error));
  return clip(error.name === 'Error' ? error.message : `${error.name}: ${error.message}`);
}

/** Returns the first frames in the author's own files. The loader has mapped stacks to sources. */
function framesOf(error: unknown): string[] {
  if (!(error instanceof Error) || typeof error.stack !== 'string') return [];
  return error.stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line) && !/node:|node_modules/.test(line) && !line.includes(OWN_FILES))
    .slice(0, SHOWN_FRAMES)
    .map((line) => `    ${line.trim()}`);
}

function clip(message: string): string {
  return message.length > MESSAGE_MAX ? `${message.slice(0, MESSAGE_MAX)}…` : message;
}
