import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

const RETRY_MS = 50;
const ANSWERED_WITHIN_MS = 20_000;

/**
 * Starts a run by a command of the event protocol: sends it under one key until it is answered, as a run without an
 * answer would add to its thread what no client expects. Returns false when it was not answered in time.
 */
export async function startRun(run: {
  url: string;
  headers: Record<string, string>;
  threadId: string;
  /** The parameters of `run.start`. */
  params: Record<string, unknown>;
  /** Milliseconds since 1970. */
  until: number;
}): Promise<boolean> {
  const { url, headers, threadId, params, until } = run;
  const key = randomUUID();
  while (Date.now() < until) {
    const isStarted = await fetch(`${url}/threads/${threadId}/commands`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', 'idempotency-key': key },
      body: JSON.stringify({ id: 1, method: 'run.start', params }),
      signal: AbortSignal.timeout(ANSWERED_WITHIN_MS),
    })
      .then(async (response) => response.ok && ((await response.json()) as { type: string }).type === 'success')
      .catch(() => false);
    if (isStarted) return true;
    await pause(RETRY_MS);
  }
  return false;
}
