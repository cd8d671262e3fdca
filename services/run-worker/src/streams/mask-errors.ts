import { sanitizeErrorText } from '@runyard/service-kit';

/** True when some `error` in the JSON text is not null: everything else passes without being parsed. */
const HAS_ERROR = /"error":(?!null)/;

/**
 * Returns the data of a graph's event with the errors of tasks and tools masked: they keep what went wrong, but no
 * credentials, connection strings and names of inner hosts. What the graph itself calls an error in its state is
 * unchanged.
 */
export function maskErrors(mode: string, data: string): string {
  if (!HAS_ERROR.test(data)) return data;
  switch (mode) {
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
