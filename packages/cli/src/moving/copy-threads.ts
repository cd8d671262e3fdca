import type { AgentServer } from '../agent-server/agent-server.ts';
import { findMissing } from './compare.ts';
import { type CopyContext, copyWatched } from './copy-context.ts';
import { type DrawnGraph, DrawnGraphs, findNodeLeadingTo } from './drawn-graph.ts';
import { EarlierCopy } from './earlier-copy.ts';
import { createThread, differenceOf, readHistory, readState, readTtl, type ThreadHistory } from './read-thread.ts';
import { type NewThread, StateAttempt } from './state-attempt.ts';
import { lastStateOnly, nameNodes } from './supersteps.ts';
import { checkpointIdOf } from './thread-states.ts';
import { requireUuid } from './uuid.ts';

interface ThreadRow {
  thread_id: string;
  updated_at: string;
  metadata: Record<string, unknown>;
  status: string;
}

export interface ThreadOptions {
  /** Copies only threads whose metadata have all of this. */
  metadata: Record<string, unknown>;
  /** Copies the newest state alone. */
  withoutHistory: boolean;
}

/** Copies threads. @returns whether the source changed meanwhile */
export async function copyThreads(
  context: CopyContext,
  { metadata, withoutHistory }: ThreadOptions,
): Promise<{ hasChanged: boolean }> {
  const copier = new ThreadCopier(context, withoutHistory);
  const list = { read: () => listThreads(context.source, metadata), idOf, identityOf };
  return copyWatched(list, context, (thread) => copier.copy(thread));
}

const idOf = ({ thread_id }: ThreadRow) => thread_id;
const identityOf = ({ thread_id, updated_at }: ThreadRow) => `${thread_id} ${updated_at}`;

/** Lists threads oldest first, so that those that are made meanwhile come last. */
function listThreads(source: AgentServer, metadata: Record<string, unknown>): AsyncGenerator<ThreadRow[]> {
  return source.search<ThreadRow>('/threads/search', {
    ...(Object.keys(metadata).length > 0 && { metadata }),
    sort_by: 'created_at',
    sort_order: 'asc',
    select: ['thread_id', 'updated_at', 'metadata', 'status'],
  });
}

class ThreadCopier {
  readonly #context: CopyContext;
  readonly #withoutHistory: boolean;
  readonly #drawn: DrawnGraphs;

  constructor(context: CopyContext, withoutHistory: boolean) {
    this.#context = context;
    this.#withoutHistory = withoutHistory;
    this.#drawn = new DrawnGraphs(context.target);
  }

  async copy(thread: ThreadRow): Promise<void> {
    const { source, target, tally, graphs, isDryRun } = this.#context;
    const { thread_id: id, metadata } = thread;
    requireUuid(id, 'thread_id');
    const graph = typeof metadata.graph_id === 'string' ? metadata.graph_id : undefined;
    if (thread.status === 'busy') {
      return tally.add('skipped', id, 'a run is in flight at the source: run the command again when it has ended');
    }
    if (graph !== undefined && !graphs.has(graph)) return tally.add('skipped', id, `the target has no graph ${graph}`);
    const existing = await target.find<ThreadRow>(pathOf(id));
    if (existing) {
      const difference = await this.#compare(thread, existing);
      if (difference === null) return tally.add('present', id);
      if (!(await this.#mayReplace(thread, existing))) {
        return tally.add('different', id, `at the target it is another one, as ${withoutPlace(difference)} shows`);
      }
    }
    if (isDryRun) return tally.add('copied', id);
    const ttl = await readTtl(source, pathOf(id));
    await this.#write({ thread_id: id, metadata, ...(ttl && { ttl }) }, graph, existing);
  }

  /** Returns where the target's thread differs, or null. */
  async #compare({ thread_id: id, metadata }: ThreadRow, existing: ThreadRow): Promise<string | null> {
    const { source, target } = this.#context;
    // Servers set this field by the last run, and some take it from no client.
    const { assistant_id: _assistantId, ...ofClients } = metadata;
    const inMetadata = findMissing(ofClients, existing.metadata, 'metadata');
    if (inMetadata !== null) return inMetadata;
    return differenceOf(...(await Promise.all([readState(source, id), readState(target, id)])));
  }

  /**
   * A thread that was copied earlier is written again when the source went on; one without a state was left by a copy
   * that broke off. A thread that the target has run is never touched.
   */
  async #mayReplace({ thread_id: id, updated_at }: ThreadRow, existing: ThreadRow): Promise<boolean> {
    const { target } = this.#context;
    const runs = await target.call<unknown[]>('GET', `${pathOf(id)}/runs?limit=1`);
    if (runs.length > 0) return false;
    if (Date.parse(updated_at) > Date.parse(existing.updated_at)) return true;
    return checkpointIdOf(await readState(target, id)) === undefined;
  }

  async #write(thread: NewThread, graph: string | undefined, existing: ThreadRow | undefined): Promise<void> {
    const { source, target, tally, graphs } = this.#context;
    const { thread_id: id } = thread;
    const length = this.#withoutHistory ? 2 : undefined;
    const history = graph === undefined ? undefined : await readHistory(source, id, length);
    const assistant = graph === undefined ? undefined : graphs.get(graph);
    const drawn = assistant && (await this.#drawn.get(assistant.assistantId));
    const earlier = existing && (await EarlierCopy.read(target, { ...thread, metadata: existing.metadata }, drawn));
    try {
      if (history && drawn) return await this.#writeHistory(thread, history, drawn, earlier);
      await earlier?.delete();
      await createThread(target, thread);
      tally.add('copied', id);
    } catch (error) {
      throw earlier ? await earlier.putBack(error) : error;
    }
  }

  async #writeHistory(
    thread: NewThread,
    history: ThreadHistory,
    drawn: DrawnGraph,
    earlier: EarlierCopy | undefined,
  ): Promise<void> {
    const { target, tally } = this.#context;
    const { thread_id: id } = thread;
    const node = findNodeLeadingTo(drawn, history.newest.next) ?? '';
    const attempt = new StateAttempt(target, thread, history.newest, earlier);
    const last = lastStateOnly(history.newest, history.lastNodes);
    const plans = this.#withoutHistory ? [last] : [history.supersteps, last];
    for (const plan of plans) {
      if ((await attempt.make(nameNodes(plan, node))) !== null) continue;
      return tally.add('copied', id, notesOf(history, { isWhole: plan !== last, ...attempt }));
    }
    await attempt.leave();
    tally.add('different', id, `the target made another one of it, as ${withoutPlace(attempt.difference)} shows`);
  }
}

/** Says what of a thread could not be copied; undefined when all of it was. */
function notesOf(
  { newest, left }: ThreadHistory,
  { isWhole, hasMovedFields }: { isWhole: boolean; hasMovedFields: boolean },
): string | undefined {
  const asks = newest.tasks.some(({ interrupts }) => (interrupts?.length ?? 0) > 0);
  const notes = [
    ...(isWhole ? [] : ['its newest state only, without its history']),
    ...(isWhole && left > 0 ? ['without the states of its other branches'] : []),
    ...(asks ? ['it waits for an answer, and asks again when it is run'] : []),
    ...(hasMovedFields ? ['the token counts of its messages are in additional_kwargs'] : []),
  ];
  return notes.length > 0 ? notes.join('; ') : undefined;
}

function pathOf(threadId: string): string {
  return `/threads/${threadId}`;
}

/** Leaves the indexes out of a path, so that the same difference is counted as one. */
function withoutPlace(path: string): string {
  return path.replace(/\[\d+\]/g, '[]');
}
