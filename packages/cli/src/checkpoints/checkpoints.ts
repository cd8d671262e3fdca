import type { AgentServer } from '../agent-server/agent-server.ts';
import { isObject, type Json } from '../agent-server/json.ts';
import { CliError } from '../cli-error.ts';
import { textOf } from '../output/cells.ts';
import { formatTable } from '../output/table.ts';

/** A state of a thread's past, without its values. */
export interface Checkpoint {
  id: string;
  /** The checkpoint before it; undefined for the first one. */
  parentId: string | undefined;
  createdAt: string | undefined;
  /** The run that made it, if a run did. */
  runId: string | undefined;
  /** Says what made it: `input`, `loop`, `update` or `fork`. */
  source: string | undefined;
  step: number | undefined;
  /** The nodes that run next. */
  next: string[];
}

/** States that are read at once: each may be large where the server does not take `select`. */
const PAGE = 20;
/** Checkpoints after which nobody waits for the one that is looked for; a server could answer new ones for ever. */
const CHECKPOINTS_MAX = 20_000;
const SELECT = [
  'metadata',
  'next',
  'created_at',
  'checkpoint',
  'parent_checkpoint',
  'checkpoint_id',
  'parent_checkpoint_id',
];

/**
 * Reads the checkpoints of a thread, newest first; none where there is no such thread.
 *
 * @param runId only those that this run made
 * @throws CliError for a server that answers the same ones again, or too many, which might never end
 */
export async function* readCheckpoints(
  server: AgentServer,
  threadId: string,
  runId?: string,
): AsyncGenerator<Checkpoint> {
  const seen = new Set<string>();
  for (let before: string | undefined; ; ) {
    const states = await server.call<unknown>('POST', `/threads/${threadId}/history`, {
      limit: PAGE,
      select: SELECT,
      ...(runId !== undefined && { metadata: { run_id: runId } }),
      ...(before !== undefined && { before: { configurable: { checkpoint_id: before } } }),
    });
    if (!Array.isArray(states)) throw new CliError(`POST /threads/${threadId}/history was not answered with a list.`);
    const found = states
      .filter(isObject)
      .map(toCheckpoint)
      .filter((checkpoint) => checkpoint !== undefined);
    for (const checkpoint of found) {
      if (seen.has(checkpoint.id))
        throw new CliError(`${server.url} answers the same checkpoints again: it does not take \`before\`.`);
      if (seen.size === CHECKPOINTS_MAX)
        throw new CliError(`The thread ${threadId} has more than ${CHECKPOINTS_MAX} checkpoints to look through.`);
      seen.add(checkpoint.id);
      // Not every server takes the filter.
      if (runId === undefined || checkpoint.runId === runId) yield checkpoint;
    }
    before = found.at(-1)?.id;
    if (before === undefined || states.length < PAGE) return;
  }
}

export async function listCheckpoints(server: AgentServer, threadId: string, limit: number): Promise<Checkpoint[]> {
  const checkpoints: Checkpoint[] = [];
  for await (const checkpoint of readCheckpoints(server, threadId)) {
    checkpoints.push(checkpoint);
    if (checkpoints.length === limit) break;
  }
  return checkpoints;
}

/** Returns the checkpoint of this id; undefined where the thread has none. */
export async function findCheckpoint(
  server: AgentServer,
  threadId: string,
  id: string,
): Promise<Checkpoint | undefined> {
  // An unknown id is answered with an empty state of that id.
  const state = await server.find<unknown>(`/threads/${threadId}/state/${id}`);
  const checkpoint = isObject(state) ? toCheckpoint(state) : undefined;
  return checkpoint?.createdAt === undefined ? undefined : checkpoint;
}

function toCheckpoint(state: Json): Checkpoint | undefined {
  const id = idIn(state.checkpoint) ?? state.checkpoint_id;
  if (typeof id !== 'string') return undefined;
  const metadata = isObject(state.metadata) ? state.metadata : {};
  const parentId = idIn(state.parent_checkpoint) ?? state.parent_checkpoint_id;
  return {
    id,
    parentId: typeof parentId === 'string' ? parentId : undefined,
    createdAt: typeof state.created_at === 'string' ? state.created_at : undefined,
    runId: typeof metadata.run_id === 'string' ? metadata.run_id : undefined,
    source: typeof metadata.source === 'string' ? metadata.source : undefined,
    step: typeof metadata.step === 'number' ? metadata.step : undefined,
    next: Array.isArray(state.next) ? state.next.filter((node) => typeof node === 'string') : [],
  };
}

function idIn(checkpoint: unknown): string | undefined {
  const id = isObject(checkpoint) ? checkpoint.checkpoint_id : undefined;
  return typeof id === 'string' ? id : undefined;
}

export function formatCheckpoints(checkpoints: Checkpoint[]): string {
  if (checkpoints.length === 0) return 'It has no checkpoints.';
  const rows = checkpoints.map(({ id, step, source, next, runId, createdAt }) =>
    [id, step, source, next.join(', '), runId, createdAt].map(textOf),
  );
  return formatTable(['CHECKPOINT', 'STEP', 'SOURCE', 'NEXT', 'RUN', 'CREATED'], rows);
}
