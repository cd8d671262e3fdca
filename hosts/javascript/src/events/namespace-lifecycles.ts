/** Reports where the tasks of a graph begin and end, by the namespaces of what it streams. */
import type { GraphEvent } from '../langgraph/graph-types.ts';

type Status = 'started' | 'completed' | 'failed';

export class NamespaceLifecycles {
  /** The namespaces in which something was streamed and that have not ended, each by its text. */
  readonly #open = new Map<string, string[]>();
  readonly #ended = new Set<string>();

  *observe(namespace: string[], mode: string, payload: unknown): Generator<GraphEvent> {
    for (let length = 1; length <= namespace.length; length += 1) yield* this.#begin(namespace.slice(0, length));
    const task = payload as { id?: unknown; name?: unknown } | null;
    if (mode !== 'tasks' || typeof task !== 'object' || task === null || !('result' in task)) return;
    const ended = [...namespace, `${task.name}:${task.id}`].join('|');
    const open = this.#open.get(ended);
    if (open) yield this.#end(ended, open, 'completed');
  }

  /** Ends the namespaces that are open, the inner ones first. */
  *end(status: 'completed' | 'failed'): Generator<GraphEvent> {
    for (const [key, namespace] of [...this.#open].reverse()) yield this.#end(key, namespace, status);
  }

  *#begin(namespace: string[]): Generator<GraphEvent> {
    const key = namespace.join('|');
    if (this.#open.has(key) || this.#ended.has(key)) return;
    this.#open.set(key, namespace);
    yield lifecycleOf(namespace, 'started');
  }

  #end(key: string, namespace: string[], status: Status): GraphEvent {
    this.#open.delete(key);
    this.#ended.add(key);
    return lifecycleOf(namespace, status);
  }
}

function lifecycleOf(namespace: string[], event: Status): GraphEvent {
  const graph_name = namespace.at(-1)!.split(':')[0];
  return { method: 'lifecycle', params: { namespace, timestamp: Date.now(), data: { event, graph_name } } };
}
