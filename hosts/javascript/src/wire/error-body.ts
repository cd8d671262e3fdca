/** Turns errors of user code into what clients see: class name and message. */
import type { ErrorBody } from '@runyard/host-protocol/graph-process';

const MAX_MESSAGE_LENGTH = 64 * 1024;

/** Never throws, whatever the code has thrown: a run ends with what this returns. */
export function errorBody(error: unknown, kind = 'failed'): ErrorBody {
  try {
    if (!(error instanceof Error)) return { kind, error: 'Error', message: clip(describe(error)) };
    return { kind, error: className(error), message: clip(describe(error.message)) };
  } catch {
    return { kind, error: 'Error', message: 'The error cannot be described.' };
  }
}

/** Returns the class's own name where `name` is not set: `class OutOfStock extends Error` becomes OutOfStock. */
function className(error: Error): string {
  const name: unknown = error.name === 'Error' ? undefined : error.name;
  const names: unknown[] = [name, error.constructor?.name];
  return names.find((each): each is string => typeof each === 'string' && each !== '') ?? 'Error';
}

function describe(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown;
  try {
    return JSON.stringify(thrown) ?? String(thrown);
  } catch {
    return String(thrown);
  }
}

function clip(message: string): string {
  return message.length <= MAX_MESSAGE_LENGTH ? message : `${message.slice(0, MAX_MESSAGE_LENGTH)}…`;
}
