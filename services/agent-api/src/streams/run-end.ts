import type { RunStatus } from '@runyard/run-engine';

/** What `run.end` says: how the run ended and, when they are small, its final values as JSON text. */
export interface RunEnd {
  status: RunStatus;
  values?: string;
}

export function isFailure(status: RunStatus): boolean {
  return status === 'error' || status === 'timeout';
}

const CANONICAL = /^\{"status":"(\w+)"(?:,"values":|\}$)/;

/** Reads the data of a `run.end` entry. The values are cut out of the text, not parsed: they go to the client as they are. */
export function parseRunEnd(data: string): RunEnd {
  const match = CANONICAL.exec(data);
  if (match) {
    const status = match[1] as RunStatus;
    return match[0].endsWith('}') ? { status } : { status, values: data.slice(match[0].length, -1) };
  }
  const { status, values } = JSON.parse(data) as { status: RunStatus; values?: unknown };
  return { status, ...(values !== undefined && { values: JSON.stringify(values) }) };
}
