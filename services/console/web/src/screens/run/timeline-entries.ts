import { type Entry, momentOf, type Timeline } from './timeline.ts';

/** The error of the run as a whole, which is at the end. */
export function runError(error: unknown, at: number | undefined): Entry {
  const { error: name, message } = (error ?? {}) as { error?: string; message?: string };
  return {
    id: 'error',
    kind: 'error',
    title: name ?? 'Error',
    parent: undefined,
    order: [Number.MAX_SAFE_INTEGER, 0],
    status: 'error',
    startedAt: at,
    text: message,
    details: { error },
  };
}

/** Adds an interrupt where it is innermost: the tasks around it have it too. */
export function putInterrupt(timeline: Timeline, entry: Entry): void {
  const known = timeline.get(entry.id);
  const isFurtherOut = known !== undefined && depthOf(timeline, known) > depthOf(timeline, entry);
  timeline.put(isFurtherOut ? { ...known, status: entry.status } : entry);
}

function depthOf(timeline: Timeline, { parent }: Entry): number {
  const outer = parent === undefined ? undefined : timeline.get(parent);
  return outer ? 1 + depthOf(timeline, outer) : 0;
}

export function errorText(error: unknown): string {
  if (typeof error === 'string') return withoutQuotes(error);
  const { error: name, message } = error as { error?: string; message?: string };
  return [name, message].filter(Boolean).join(': ');
}

/** Returns `Name: message` of the form `Name('message')`, in which Python writes errors; others as they are. */
function withoutQuotes(text: string): string {
  const start = text.indexOf("('");
  const isQuoted = start > 0 && text.endsWith("')") && !/\s/.test(text.slice(0, start));
  return isQuoted ? `${text.slice(0, start)}: ${text.slice(start + 2, -2)}` : text;
}

export function interruptEntry(interruptId: string, value: unknown, parent: string | undefined, at: number): Entry {
  return {
    id: `interrupt:${interruptId}`,
    kind: 'interrupt',
    title: 'Interrupt',
    parent,
    order: [at, 0],
    status: 'waiting',
    text: typeof value === 'string' ? value : JSON.stringify(value)?.slice(0, 500),
    details: { value },
  };
}

interface MadeCheckpoint {
  id: string;
  namespace: string;
  step: unknown;
  source: unknown;
  parent: string | undefined;
  at: number;
  metadata?: unknown;
}

export function checkpointEntry(made: MadeCheckpoint, timeline: Timeline): Entry {
  const { id, namespace, step, source, parent, at, metadata } = made;
  const moment = momentOf(id) ?? at;
  const key = `checkpoint:${namespace}|${id}`;
  const details = metadata === undefined ? (timeline.get(key)?.details ?? {}) : { metadata };
  return {
    id: key,
    kind: 'checkpoint',
    title: `Checkpoint of step ${String(step)}`,
    parent,
    order: [moment, 0],
    startedAt: moment,
    text: source === 'loop' ? undefined : String(source),
    details,
    checkpoint: { id, namespace },
  };
}

/** A place of the list where something may be missing. */
export function gapEntry(id: string, text: string, at: number, details: Record<string, unknown> = {}): Entry {
  return {
    id: `gap:${id}`,
    kind: 'gap',
    title: 'Gap',
    parent: undefined,
    order: [at, 9_999],
    startedAt: at,
    text,
    details,
  };
}
