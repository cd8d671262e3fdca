/** Turns errors of user code into what clients see: class name and message. */
import type { ErrorBody } from '@runyard/host-protocol/graph-process';

const MAX_MESSAGE_LENGTH = 64 * 1024;

export function errorBody(error: unknown, kind = 'failed'): ErrorBody {
  if (!(error instanceof Error)) return { kind, error: 'Error', message: clip(describe(error)) };
  return { kind, error: className(error), message: clip(String(error.message)) };
}

/** Returns the class's own name where `name` is not set: `class OutOfStock extends Error` becomes OutOfStock. */
function className(error: Error): string {
  if (error.name !== 'Error') return String(error.name);
  return String(error.constructor?.name || 'Error');
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
