import type { Run } from '@runyard/contracts';
import { OF_THE_PLATFORM } from '../run/run-facts.ts';
import { configurableOf } from './run-start.ts';

/** Describes by how much a number of the shadow is more or less: `+1.2 s (+50 %)`. Undefined where one is not known. */
export function describeDifference(
  original: number | null | undefined,
  shadow: number | null | undefined,
  format: (value: number) => string,
): string | undefined {
  if (original == null || shadow == null) return undefined;
  const difference = shadow - original;
  if (difference === 0) return 'the same';
  const sign = difference > 0 ? '+' : '−';
  const percent = original === 0 ? undefined : Math.round((Math.abs(difference) / original) * 100);
  return `${sign}${format(Math.abs(difference))}${percent === undefined ? '' : ` (${sign}${percent} %)`}`;
}

/** The arguments of a run that a person may choose. */
interface RunSettings {
  input: unknown;
  /** With that of its assistant. */
  configuration: Record<string, unknown>;
}

export function settingsOf(run: Run | null | undefined): RunSettings | undefined {
  if (!run) return undefined;
  const own = Object.entries(configurableOf(run)).filter(([name]) => !OF_THE_PLATFORM.test(name));
  const sorted = own.sort(([a], [b]) => (a < b ? -1 : 1));
  return { input: run.kwargs.command ?? run.kwargs.input, configuration: Object.fromEntries(sorted) };
}

/** Says whether two values are the same; undefined where one is not known. */
export function sameness(original: unknown, shadow: unknown): string | undefined {
  if (original === undefined || shadow === undefined) return undefined;
  return JSON.stringify(original) === JSON.stringify(shadow) ? 'the same' : 'another';
}

/** Returns names with their numbers: `weather 2×, search 1×`. */
export function namesWithCounts(counts: readonly (readonly [string, number])[]): string {
  return counts.map(([name, count]) => `${name} ${count}×`).join(', ');
}
