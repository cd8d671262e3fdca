import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** Process ids of everything that runs for a revision, whoever its parent is. */
export function processesOf(revisionId: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return existsSync(`/proc/${pid}/exe`) && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(revisionId);
      } catch {
        return false; // Ended meanwhile, or somebody else's.
      }
    });
}
