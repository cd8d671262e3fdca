/** One number that a goal is judged by. */
export interface Measure {
  what: string;
  measured: number;
  limit: number;
  unit: string;
  /** How many things the number was taken from. */
  samples: number;
  /** From fewer than these it says nothing, and is not met. Default 1. */
  needed?: number;
  /** The number must not be below its limit, rather than not above it. */
  atLeast?: boolean;
}

/** A number that could not be taken, and one taken from too little, is not met. */
export function isMet({ measured, limit, atLeast, ...taken }: Measure): boolean {
  return hasEnoughSamples(taken) && Number.isFinite(measured) && (atLeast ? measured >= limit : measured <= limit);
}

export function hasEnoughSamples({ samples, needed = 1 }: Pick<Measure, 'samples' | 'needed'>): boolean {
  return samples >= needed;
}
