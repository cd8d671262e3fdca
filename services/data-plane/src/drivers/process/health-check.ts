import { setTimeout as pause } from 'node:timers/promises';
import { withDeadline } from '@runyard/deadline';
import { probeReplica } from '../../probes/probe-replica.ts';

const POLL_MS = 50;
const LONGEST_POLL_MS = 250;
const ANSWER_TIMEOUT_MS = 5_000;

/** Bytes of an answer that are read: whoever made the image says how long it is. */
const ANSWER_BYTES_MAX = 4_096;

/** Returns why a service is not healthy, in the service's own words if it answers; null when it is healthy. */
export async function checkHealth(url: string, signal: AbortSignal, path = '/ok?check_db=1'): Promise<string | null> {
  try {
    return await withDeadline(signal, ANSWER_TIMEOUT_MS, async (limited) => {
      const answer = await probeReplica(url + path, limited);
      if (!answer.ok) return `it answers ${answer.status}: ${(await readBeginning(answer)).slice(0, 300)}`;
      await answer.body?.cancel();
      return null;
    });
  } catch {
    return 'it does not answer';
  }
}

/**
 * Resolves when the service is healthy and rejects only with the signal's reason. `onFinding` gets each reason why it
 * is not.
 */
export async function waitUntilHealthy(
  url: string,
  signal: AbortSignal,
  onFinding: (finding: string) => void,
): Promise<void> {
  for (let pollMs = POLL_MS; ; pollMs = Math.min(pollMs * 1.2, LONGEST_POLL_MS)) {
    signal.throwIfAborted();
    const finding = await checkHealth(url, signal);
    if (finding === null) return;
    // A check that the end of the wait cut off has found nothing.
    if (!signal.aborted) onFinding(finding);
    await pause(pollMs, undefined, { signal });
  }
}

async function readBeginning({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    bytes += chunk.length;
    // Leaving the loop cancels the rest.
    if (bytes >= ANSWER_BYTES_MAX) break;
  }
  return Buffer.concat(chunks).toString('utf8', 0, ANSWER_BYTES_MAX);
}
