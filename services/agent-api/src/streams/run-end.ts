import type { RunStatus } from '@runyard/run-engine';

/** The content of `run.end`: how the run ended and, when they are small, its final values as JSON text. */
export interface RunEnd {
  status: RunStatus;
  values?: string;
  /** True when nothing of the run is kept; the values are its last ones. */
  isRolledBack?: boolean;
  /** True when the run has succeeded so far, and waits for an answer. */
  isWaiting?: boolean;
}

export function isFailure(status: RunStatus): boolean {
  return status === 'error' || status === 'timeout';
}

const CANONICAL = /^\{"status":"(\w+)"(?:,"values":|\}$)/;

/**
 * Reads the data of a `run.end` entry. The values are cut out of the text, not parsed: they go to the client as they
 * are.
 */
export function parseRunEnd(data: string): RunEnd {
  const match = CANONICAL.exec(data);
  if (match) {
    const status = match[1] as RunStatus;
    return match[0].endsWith('}') ? { status } : { status, values: data.slice(match[0].length, -1) };
  }
  const end = JSON.parse(data) as {
    status: RunStatus;
    values?: unknown;
    rolled_back?: boolean;
    waits_for_input?: boolean;
  };
  const { status, values, rolled_back: isRolledBack, waits_for_input: isWaiting } = end;
  return {
    status,
    ...(values !== undefined && { values: JSON.stringify(values) }),
    ...(isRolledBack && { isRolledBack }),
    ...(isWaiting && { isWaiting }),
  };
}
