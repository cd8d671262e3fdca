/** One number that a goal is judged by. */
export interface Measure {
  what: string;
  measured: number;
  limit: number;
  unit: string;
  /** How many things the number was taken from. */
  samples: number;
  /** The number must not be below its limit, rather than not above it. */
  atLeast?: boolean;
}

export function isMet({ measured, limit, atLeast }: Measure): boolean {
  return atLeast ? measured >= limit : measured <= limit;
}

/** The value that the share `q` (0–1) of the numbers does not exceed; 0 when there are none. */
export function percentile(numbers: readonly number[], q: number): number {
  if (numbers.length === 0) return 0;
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(q * sorted.length) - 1)] ?? 0;
}
