export type EntryKind =
  | 'attempt'
  | 'checkpoint'
  | 'task'
  | 'message'
  | 'tool'
  | 'interrupt'
  | 'custom'
  | 'error'
  | 'gap';

/** `waiting`: for an answer. Undefined for what happens at one moment. */
type EntryStatus = 'running' | 'success' | 'error' | 'waiting';

/** Something that happened in a run. Entries are replaced, never changed. */
export interface Entry {
  /** The same whether a history or a live event brought it. */
  id: string;
  kind: EntryKind;
  title: string;
  /** The entry in which it happened; undefined at the top. */
  parent: string | undefined;
  /** Its place among its siblings: a moment in milliseconds, then a rank. */
  order: readonly [at: number, rank: number];
  status?: EntryStatus | undefined;
  startedAt?: number | undefined;
  endedAt?: number | undefined;
  /** Its words; a message has them as far as it is written. */
  text?: string | undefined;
  /** The values that an inspector shows, by name. */
  details: Readonly<Record<string, unknown>>;
  /** The state after it, which is loaded when somebody wants it. */
  checkpoint?: { id: string; namespace: string } | undefined;
}

/** The place of an entry in the list. */
export interface TimelineRow {
  id: string;
  level: number;
  position: number;
  siblings: number;
}

/** A part of a namespace: `node:task id`. */
export type Namespace = readonly string[];

const TOP = '';

/**
 * The events of a run as a tree whose order depends on the events only, and not on when they arrived: entries of
 * histories and of live events come together under the same ids.
 */
export class Timeline {
  readonly #entries = new Map<string, Entry>();
  readonly #children = new Map<string, string[]>();
  readonly #unsorted = new Set<string>();
  #rows: readonly TimelineRow[] | undefined;

  get size(): number {
    return this.#entries.size;
  }

  get(id: string): Entry | undefined {
    return this.#entries.get(id);
  }

  childrenOf(parent: string | undefined): readonly string[] {
    return this.#children.get(parent ?? TOP) ?? [];
  }

  put(entry: Entry): void {
    const known = this.#entries.get(entry.id);
    this.#entries.set(entry.id, entry);
    const parent = entry.parent ?? TOP;
    if (known && (known.parent ?? TOP) === parent) {
      if (compare(known, entry) !== 0) this.#unsorted.add(parent);
      else return;
    } else {
      if (known) this.#detach(known);
      const siblings = this.#children.get(parent);
      const last = siblings?.at(-1);
      if (last && compare(this.#entries.get(last)!, entry) > 0) this.#unsorted.add(parent);
      if (siblings) siblings.push(entry.id);
      else this.#children.set(parent, [entry.id]);
    }
    this.#rows = undefined;
  }

  /** The entries from top to bottom, each before what happened in it. The same array while none came or moved. */
  rows(): readonly TimelineRow[] {
    if (this.#rows) return this.#rows;
    for (const parent of this.#unsorted) {
      this.#children.get(parent)?.sort((a, b) => compare(this.#entries.get(a)!, this.#entries.get(b)!));
    }
    this.#unsorted.clear();
    const rows: TimelineRow[] = [];
    const add = (parent: string, level: number) => {
      const ids = this.#children.get(parent) ?? [];
      ids.forEach((id, index) => {
        rows.push({ id, level, position: index + 1, siblings: ids.length });
        add(id, level + 1);
      });
    };
    add(TOP, 1);
    this.#rows = rows;
    return rows;
  }

  #detach({ id, parent }: Entry): void {
    const siblings = this.#children.get(parent ?? TOP);
    siblings?.splice(siblings.indexOf(id), 1);
  }
}

/** Sorting keeps entries of the same place as they came. */
function compare(a: Entry, b: Entry): number {
  return a.order[0] - b.order[0] || a.order[1] - b.order[1];
}

/**
 * Returns the entry of the task that a namespace is in; undefined for the root graph. A task that was not heard of yet is
 * added, as its events may be left out of a run's stream.
 */
export function taskOf(timeline: Timeline, namespace: Namespace, at: number): string | undefined {
  let parent: string | undefined;
  for (const segment of namespace) {
    const [name, taskId] = splitSegment(segment);
    const id = `task:${taskId}`;
    if (!timeline.get(id)) {
      const order = orderOfTask(timeline, parent, at, timeline.childrenOf(parent).length);
      timeline.put({ id, kind: 'task', title: name, parent, order, details: {} });
    }
    parent = id;
  }
  return parent;
}

/** A task comes after the newest checkpoint of its graph before it, which it starts from. */
export function orderOfTask(
  timeline: Timeline,
  parent: string | undefined,
  at: number,
  place: number,
): readonly [number, number] {
  const siblings = timeline.childrenOf(parent);
  for (let index = siblings.length - 1; index >= 0; index--) {
    const { kind, order } = timeline.get(siblings[index]!)!;
    // A checkpoint's moment has parts of a millisecond, an event's has none.
    if (kind === 'checkpoint' && order[0] < at + 1) return [order[0], 1 + place];
  }
  return [at, 1 + place];
}

/** Returns name and task of `node:task id`; names may have colons too. */
function splitSegment(segment: string): [name: string, taskId: string] {
  const colon = segment.lastIndexOf(':');
  return colon < 0 ? [segment, segment] : [segment.slice(0, colon), segment.slice(colon + 1)];
}

const UUID_EPOCH_MS = 12_219_292_800_000;

/** Returns the moment, in milliseconds, that the id of a checkpoint (a UUID of version 6) has in it; undefined without. */
export function momentOf(checkpointId: string): number | undefined {
  const hex = checkpointId.replaceAll('-', '');
  if (!/^[0-9a-f]{12}6[0-9a-f]{19}$/.test(hex)) return undefined;
  // The number of tenths of microseconds is beyond safe integers.
  const high = Number.parseInt(hex.slice(0, 12), 16) * 0.4096;
  return high + Number.parseInt(hex.slice(13, 16), 16) / 10_000 - UUID_EPOCH_MS;
}
