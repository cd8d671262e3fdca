import { useSyncExternalStore } from 'react';

const MINUTE_MS = 60_000;
const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', MINUTE_MS],
  ['second', 1_000],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const absolute = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** A moment as the time that has passed since, with the whole of it on hovering. */
export function Time({ at }: { at: string | null }) {
  useSyncExternalStore(onTick, currentTick);
  if (at === null) return <span className="text-faint">–</span>;
  const date = new Date(at);
  return (
    <time dateTime={at} title={absolute.format(date)} className="whitespace-nowrap">
      {ago(date)}
    </time>
  );
}

function ago(date: Date): string {
  const ms = date.getTime() - Date.now();
  const [unit, size] = UNITS.find(([, size]) => Math.abs(ms) >= size) ?? UNITS.at(-1)!;
  return relative.format(Math.round(ms / size), unit);
}

/** Returns milliseconds as people read them: `340 ms`, `2.4 s`, `3 min 5 s`. */
export function formatDuration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return '–';
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < MINUTE_MS) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / MINUTE_MS);
  return minutes < 60
    ? `${minutes} min ${Math.round((ms % MINUTE_MS) / 1_000)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Returns a moment as fields of dates have it: in the time zone of the browser, to the minute. Empty for none. */
export function toLocalField(at: unknown): string {
  const date = new Date(typeof at === 'string' ? at : Number.NaN);
  if (Number.isNaN(date.getTime())) return '';
  return new Date(date.getTime() - date.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16);
}

/** One clock for all times of a page. */
const TICK_MS = 10_000;
const watchers = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function onTick(watcher: () => void): () => void {
  watchers.add(watcher);
  timer ??= setInterval(() => {
    for (const each of watchers) each();
  }, TICK_MS);
  return () => {
    watchers.delete(watcher);
    if (watchers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function currentTick(): number {
  return Math.floor(Date.now() / TICK_MS);
}
