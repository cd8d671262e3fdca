import { type AgentServer, ServerRefusedError } from '../agent-server/agent-server.ts';
import { CliError } from '../cli-error.ts';
import { findDifference } from './compare.ts';
import { comparable } from './messages.ts';
import { SuperstepsOfHistory } from './supersteps.ts';
import { checkpointIdOf, type Superstep, type ThreadState } from './thread-states.ts';

export interface ThreadHistory {
  newest: ThreadState;
  /** Makes all states on the way to the newest one. */
  supersteps: Superstep[];
  /** The nodes that made the newest state. */
  lastNodes: string[];
  /** States of other branches. */
  left: number;
}

/** States that are read at once: each may be large. */
const PAGE = 20;
const MS_PER_MINUTE = 60_000;

export function readState(server: AgentServer, threadId: string): Promise<ThreadState> {
  return server.call<ThreadState>('GET', `/threads/${threadId}/state`);
}

/**
 * Reads the states of a thread, a page at a time; undefined for a thread without any.
 *
 * @param length the number of states from the newest on that are read
 * @throws CliError for a server that answers the same states again, which would never end
 */
export async function readHistory(
  server: AgentServer,
  threadId: string,
  length = Number.POSITIVE_INFINITY,
): Promise<ThreadHistory | undefined> {
  const supersteps = new SuperstepsOfHistory();
  let newest: ThreadState | undefined;
  let lastNodes: string[] = [];
  const seen = new Set<string>();
  for (let count = 0, before = ''; count < length; ) {
    const query = new URLSearchParams({ limit: String(Math.min(PAGE, length - count)), ...(before && { before }) });
    const states = await server.call<ThreadState[]>('GET', `/threads/${threadId}/history?${query}`);
    for (const state of states) {
      newest ??= state;
      count += 1;
      if (checkpointIdOf(state) === newest.parent_checkpoint?.checkpoint_id) lastNodes = nodesOf(state);
      supersteps.add(state);
    }
    const last = states.at(-1);
    before = (last && checkpointIdOf(last)) ?? '';
    if (before === '') break;
    if (seen.has(before)) throw new CliError('the source answers the same states again: it does not take `before`');
    seen.add(before);
  }
  return newest && { newest, lastNodes, supersteps: supersteps.finish(), left: supersteps.left };
}

/** Returns the nodes that ran in a state; `__start__` only applied an input. */
function nodesOf({ tasks }: ThreadState): string[] {
  return tasks.map(({ name }) => name).filter((name) => !name.startsWith('__'));
}

/** Returns where two states differ in what a thread goes on from. */
export function differenceOf(wanted: ThreadState, actual: ThreadState): string | null {
  const [values, others] = [wanted, actual].map((state) => comparable(state.values ?? {}));
  return (
    findDifference(values, others, 'values') ?? findDifference([...wanted.next].sort(), [...actual.next].sort(), 'next')
  );
}

/** Returns how long a thread is kept from now on; undefined where the server keeps it for ever, or does not say. */
export async function readTtl(
  server: AgentServer,
  path: string,
): Promise<{ strategy: string; ttl: number } | undefined> {
  interface WithTtl {
    ttl?: { strategy: string; ttl_minutes: number; expires_at?: string };
  }
  const ttl = (await server.find<WithTtl>(`${path}?include=ttl`))?.ttl;
  if (!ttl) return undefined;
  const { strategy, ttl_minutes, expires_at } = ttl;
  if (strategy !== 'delete' || expires_at === undefined) return { strategy, ttl: ttl_minutes };
  // This time counts from the creation of a thread, which the copy has anew.
  return { strategy, ttl: Math.max((Date.parse(expires_at) - Date.now()) / MS_PER_MINUTE, 1) };
}

/** Creates a thread; one that a first try has created is fine. */
export async function createThread(
  server: AgentServer,
  body: { thread_id: string; supersteps?: Superstep[] },
): Promise<void> {
  try {
    await server.call('POST', '/threads', { ...body, if_exists: 'raise' });
  } catch (error) {
    if (!(error instanceof ServerRefusedError) || error.status !== 409) throw error;
  }
}

export async function deleteThread(server: AgentServer, threadId: string): Promise<void> {
  try {
    await server.call('DELETE', `/threads/${threadId}`);
  } catch (error) {
    if (!(error instanceof ServerRefusedError) || error.status !== 404) throw error;
  }
}
