/** By goal: what a reader must know to judge its numbers, and why a limit that is not met is not. */
export const notes: Record<string, string> = {};
