import type { Random } from '../random.ts';

/** A message to the graph `talk`, which asks before it answers some. */
export interface Talk {
  said: string;
  isAsked: boolean;
}

export function chooseTalk(random: Random): Talk {
  const isAsked = random.chance(0.4);
  return { said: `${isAsked ? 'ask' : 'say'} ${random.integer(0, 1_000)}`, isAsked };
}

/** Returns the answer of the graph. `approval` is what it was told when it asked. */
export function answerTo({ said, isAsked }: Talk, approval: string): string {
  return `You said ${said}, ${isAsked ? approval : 'unasked'}. The quick brown fox.`;
}
