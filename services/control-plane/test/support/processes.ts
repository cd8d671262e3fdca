import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** Returns the ids of all processes of a revision, whoever their parent is. */
export function processesOf(revisionId: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return existsSync(`/proc/${pid}/exe`) && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(revisionId);
      } catch {
        return false; // It has ended meanwhile, or belongs to another user.
      }
    });
}
