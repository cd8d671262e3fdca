import { isObject } from '../agent-server/json.ts';
import { checkpointIdOf, type Superstep, type ThreadState, type Update } from './thread-states.ts';
import { areIdentified, changesOf } from './value-changes.ts';

/** Stands for a node that is not known; {@link nameNodes} puts one of the graph in its place. */
const ANY_NODE = '';

/**
 * Turns the history of a thread into the supersteps that make it again. It is given states from the newest to the
 * oldest, and keeps of each only what its superstep says, never all of them.
 */
export class SuperstepsOfHistory {
  readonly #newestFirst: Superstep[] = [];
  #child: ThreadState | undefined;
  #inputOfChild: unknown;
  #wanted: string | undefined;
  /** States that the newest one does not come from: other branches of a thread that was forked. */
  left = 0;

  /** @param state the next older one */
  add(state: ThreadState): void {
    const id = checkpointIdOf(state);
    if (this.#child !== undefined && id !== this.#wanted) {
      this.left += 1;
      return;
    }
    const child = this.#child;
    const input = inputOf(state, child);
    if (child !== undefined) this.#push(child, state, input);
    this.#child = state;
    this.#inputOfChild = input;
    this.#wanted = state.parent_checkpoint?.checkpoint_id;
  }

  /** Ends with the oldest state, and returns the supersteps from the oldest on. */
  finish(): Superstep[] {
    if (this.#child !== undefined) this.#push(this.#child, undefined, undefined);
    this.#child = undefined;
    return this.#newestFirst.reverse();
  }

  #push(state: ThreadState, parent: ThreadState | undefined, parentInput: unknown): void {
    const updates = updatesOf(state, parent, this.#inputOfChild, parentInput);
    if (updates.length > 0) this.#newestFirst.push({ updates });
  }
}

/** Makes the newest state in one step, for a graph that cannot repeat its history. */
export function lastStateOnly({ values, metadata }: ThreadState, lastNodes: string[]): Superstep[] {
  const writers = isObject(metadata?.writes) ? Object.keys(metadata.writes) : [];
  const as_node = lastNodes[0] ?? writers[0] ?? ANY_NODE;
  return [{ updates: [{ as_node, values }] }];
}

/** Puts a node of the graph in the place of those that are not known. */
export function nameNodes(supersteps: Superstep[], node: string): Superstep[] {
  return supersteps.map(({ updates }) => ({
    updates: updates.map((update) => (update.as_node === ANY_NODE ? { ...update, as_node: node } : update)),
  }));
}

/** Makes the last step lead to these nodes, as a node does that says by itself where to go; or to the end. */
export function leadTo(next: string[], supersteps: Superstep[]): Superstep[] {
  if (next.length === 0) return [...supersteps, { updates: [{ as_node: '__end__', values: null }] }];
  const [last] = supersteps.slice(-1);
  if (!last) return supersteps;
  const [first, ...others] = last.updates;
  if (!first || first.as_node.startsWith('__')) return supersteps;
  const { as_node, values } = first;
  const led: Update = { as_node, command: { update: values ?? null, goto: next } };
  return [...supersteps.slice(0, -1), { updates: [led, ...others] }];
}

/** Returns the input that waits in a state to be applied. */
function inputOf(state: ThreadState, child: ThreadState | undefined): unknown {
  if (state.metadata?.source !== 'input') return undefined;
  const applied = child ? changesOf(state.values, child.values) : undefined;
  const given = state.tasks.find(({ name }) => name === '__start__')?.result;
  return withIds(given ?? undefined, applied, child?.values);
}

function updatesOf(
  state: ThreadState,
  parent: ThreadState | undefined,
  input: unknown,
  parentInput: unknown,
): Update[] {
  const source = state.metadata?.source;
  if (source === 'input') return input === undefined ? [] : [{ as_node: '__input__', values: input }];
  // A fork is a checkpoint with the values of another one: nothing was written.
  if (source === 'fork') return [];
  if (parent?.metadata?.source === 'input' && parent.tasks.some(({ name }) => name === '__start__')) {
    return [{ as_node: '__start__', values: parentInput }];
  }
  const changes = changesOf(parent?.values, state.values);
  const writers = writersOf(state, parent);
  const results = parent?.tasks.filter(({ result }) => result !== null && result !== undefined) ?? [];
  // No task has the values that a client wrote.
  if (source === 'update' || results.length === 0) {
    return writers.map((as_node, index) => ({ as_node, values: index === 0 ? changes : null }));
  }
  return withResults(parent?.tasks ?? [], changes, state.values);
}

function writersOf({ metadata }: ThreadState, parent: ThreadState | undefined): string[] {
  const named = isObject(metadata?.writes) ? Object.keys(metadata.writes) : [];
  const due = parent?.tasks.map(({ name }) => name) ?? [];
  const [first] = named.length > 0 ? named : due;
  if (metadata?.source === 'update' || first === undefined) return [first ?? ANY_NODE];
  return due.length > 0 ? due : named;
}

/** Gives lists of items with ids to the first task that writes them: in results, items may lack their ids. */
function withResults(tasks: ThreadState['tasks'], changes: unknown, values: unknown): Update[] {
  const rest = isObject(changes) ? { ...changes } : changes;
  return tasks.map(({ name, result }) => {
    const update = withIds(result ?? null, rest, values);
    if (isObject(rest) && isObject(update)) for (const key of Object.keys(update)) delete rest[key];
    return { as_node: name, values: update };
  });
}

/** Returns what was written, with items as they are in the state that it led to, where they have ids. */
function withIds(written: unknown, changes: unknown, values: unknown): unknown {
  if (written === undefined) return changes;
  if (!isObject(written) || !isObject(values) || !isObject(changes)) return written;
  return Object.fromEntries(
    Object.entries(written).flatMap(([key, value]) => {
      const inState = values[key];
      if (!Array.isArray(inState) || inState.length === 0 || !areIdentified(inState)) return [[key, value]];
      return key in changes ? [[key, changes[key]]] : [];
    }),
  );
}
