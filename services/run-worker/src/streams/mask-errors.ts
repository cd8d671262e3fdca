import { protocolModeOf } from '@runyard/host-protocol';
import { sanitizeErrorText } from '@runyard/service-kit';

/** True when some `error` in the JSON text is not null: everything else passes without being parsed. */
const HAS_ERROR = /"error":(?!null)/;
/** True when the JSON text may be of an event that is an error itself. */
const IS_ERROR = /"event":"(?:tool-)?error"/;

const PROTOCOL_TASKS = protocolModeOf('tasks');
const PROTOCOL_ERRORS: ReadonlySet<string> = new Set([protocolModeOf('tools'), protocolModeOf('messages')]);

/**
 * Returns the data of a graph's event with the errors of tasks and tools masked: they keep what went wrong, but no
 * credentials, connection strings and names of inner hosts. What the graph itself calls an error in its state is
 * unchanged.
 */
export function maskErrors(mode: string, data: string): string {
  if (PROTOCOL_ERRORS.has(mode)) return IS_ERROR.test(data) ? rewrite(data, inData(maskErrorEvent)) : data;
  if (!HAS_ERROR.test(data)) return data;
  switch (mode) {
    case PROTOCOL_TASKS:
      return rewrite(data, inData(maskTask));
    case 'tasks':
    case 'tools':
      return rewrite(data, maskTask);
    case 'checkpoints':
      return rewrite(data, maskTasksOf);
    case 'debug':
      return rewrite(data, (chunk) => ({ ...chunk, payload: maskTasksOf(maskTask(asObject(chunk.payload))) }));
    case 'events':
      return rewrite(data, (event) => ({ ...event, data: maskTask(asObject(event.data)) }));
    default:
      return data;
  }
}

type Json = Record<string, unknown>;

function rewrite(data: string, change: (value: Json) => Json): string {
  return JSON.stringify(change(asObject(JSON.parse(data))));
}

/** Changes what an event of the event protocol has under `data`. */
function inData(change: (value: Json) => Json): (event: Json) => Json {
  return (event) => ({ ...event, data: change(asObject(event.data)) });
}

/** Masks the message of an event that is an error. */
function maskErrorEvent(event: Json): Json {
  const { event: kind, message } = event;
  const isError = kind === 'error' || kind === 'tool-error';
  return isError && typeof message === 'string' ? { ...event, message: sanitizeErrorText(message) } : event;
}

function maskTask(task: Json): Json {
  return task.error ? { ...task, error: maskError(task.error) } : task;
}

function maskTasksOf(checkpoint: Json): Json {
  if (!Array.isArray(checkpoint.tasks)) return checkpoint;
  return { ...checkpoint, tasks: checkpoint.tasks.map((task) => maskTask(asObject(task))) };
}

/** Masks a text, or an object with its name and message. */
function maskError(error: unknown): unknown {
  if (typeof error === 'string') return sanitizeErrorText(error);
  if (typeof error !== 'object' || error === null) return error;
  return Object.fromEntries(
    Object.entries(error).map(([key, value]) => [key, typeof value === 'string' ? sanitizeErrorText(value) : value]),
  );
}

function asObject(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {};
}
