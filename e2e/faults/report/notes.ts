/** By goal: what a reader must know to judge its numbers, and why a limit that is not met is not. */
export const notes: Record<string, string> = {
  R1: 'The workers of this load live for 1.4 s on average between two kills, so that there are fewer free slots than runs: the times hold the wait for a slot too.',
};
