/** All that one client got of one stream, over its connections. */
export class StreamUnion {
  readonly ids: string[] = [];
  /** The position from which the client resumes. */
  lastId: string | undefined;

  /**
   * Adds an event. A gap is a position to resume from, and no event of the stream: it may also say only that something
   * could be missing. Real losses show in the events themselves.
   */
  add({ id, event }: { id?: string | undefined; event?: string }): void {
    if (id === undefined) return;
    this.lastId = id;
    if (event !== 'gap') this.ids.push(id);
  }

  /** Returns what is wrong with it, given the ids of the whole stream; undefined when nothing is. */
  difference(whole: readonly string[]): string | undefined {
    if (whole.length === 0) return 'the stream that was to be compared with is empty';
    const backwards = this.ids.findIndex((id, at) => at > 0 && compareEventIds(this.ids[at - 1]!, id) >= 0);
    if (backwards > 0) return `after ${this.ids[backwards - 1]} came ${this.ids[backwards]}`;
    const got = new Set(this.ids);
    const missing = whole.filter((id) => !got.has(id));
    if (missing.length > 0) {
      const where = `${missing[0]} to ${missing.at(-1)}, the last that came was ${this.lastId}`;
      return `${missing.length} of ${whole.length} events are missing: ${where}`;
    }
    const known = new Set(whole);
    const foreign = this.ids.filter((id) => !known.has(id));
    return foreign.length > 0 ? `${foreign.length} events are not of the stream, the first ${foreign[0]}` : undefined;
  }
}

/** Compares ids of the form `<milliseconds>-<number>`. */
function compareEventIds(a: string, b: string): number {
  const [aMs = 0, aSeq = 0] = a.split('-').map(Number);
  const [bMs = 0, bSeq = 0] = b.split('-').map(Number);
  return aMs - bMs || aSeq - bSeq;
}

interface LedgerEvent {
  step: number;
  n: number;
  attempt: number;
}

/**
 * Returns what is wrong with the custom events of a ledger run. Within an attempt they count up without a hole; and the
 * attempt that completed a step has all of its events. A lost attempt's may break off anywhere.
 */
export function findEventFaults(
  data: readonly unknown[],
  { steps, events }: { steps: number; events: number },
): string[] {
  const counts = new Map<string, number>();
  const holes: string[] = [];
  for (const { step, n, attempt } of data as LedgerEvent[]) {
    const key = `${step}/${attempt}`;
    const expected = counts.get(key) ?? 0;
    if (n !== expected) holes.push(`step ${step} of attempt ${attempt}: ${n} came instead of ${expected}`);
    counts.set(key, n + 1);
  }
  for (let step = 0; step < steps; step += 1) {
    const most = Math.max(0, ...[...counts].filter(([key]) => key.startsWith(`${step}/`)).map(([, count]) => count));
    if (most !== events) holes.push(`step ${step} was streamed with ${most} of ${events} events`);
  }
  return holes;
}
