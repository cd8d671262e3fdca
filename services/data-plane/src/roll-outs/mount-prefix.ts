import { isMountPrefix, MOUNT_PREFIX_HEADER } from '@runyard/contracts';
import { withDeadline } from '@runyard/deadline';
import { probeReplica } from '../probes/probe-replica.ts';

const ANSWER_TIMEOUT_MS = 2_000;

/**
 * Asks the servers of a healthy revision, one after the other, for the path below which they serve everything. Only
 * they know it: it comes from the project's configuration, or from a variable of the deployment or its image.
 *
 * @returns null without a prefix, or with one that cannot be told apart from other paths; undefined when no server
 * answered
 */
export async function readMountPrefix(
  upstreams: readonly string[],
  signal: AbortSignal,
): Promise<string | null | undefined> {
  for (const url of upstreams) {
    const answer = await askServer(url, signal);
    if (answer !== undefined) return answer;
  }
  return undefined;
}

async function askServer(url: string, signal: AbortSignal): Promise<string | null | undefined> {
  try {
    const answer = await withDeadline(signal, ANSWER_TIMEOUT_MS, async (limited) => {
      // A server that is still starting fails the database check and does not know its prefix yet.
      const { ok, headers, body } = await probeReplica(`${url}/ok?check_db=1`, limited);
      await body?.cancel();
      return { ok, headers };
    });
    const prefix = answer.headers.get(MOUNT_PREFIX_HEADER);
    if (prefix === null) return answer.ok ? null : undefined;
    return isMountPrefix(prefix) ? prefix : null;
  } catch {
    return undefined;
  }
}
