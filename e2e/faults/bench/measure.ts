/** One number that a goal is judged by. */
export interface Measure {
  what: string;
  measured: number;
  limit: number;
  unit: string;
  /** The number of things that were measured. */
  samples: number;
  /** The least number of samples; with fewer the measure is not met. Default 1. */
  needed?: number;
  /** True when the number must not be below its limit, rather than not above it. */
  atLeast?: boolean;
}

/** Returns whether the measure is met; a missing number, or one from too few samples, is not. */
export function isMet({ measured, limit, atLeast, ...taken }: Measure): boolean {
  return hasEnoughSamples(taken) && Number.isFinite(measured) && (atLeast ? measured >= limit : measured <= limit);
}

export function hasEnoughSamples({ samples, needed = 1 }: Pick<Measure, 'samples' | 'needed'>): boolean {
  return samples >= needed;
}
