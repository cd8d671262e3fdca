import { readFileSync } from 'node:fs';

/** Linux counts processor time in hundredths of a second, whatever its clock does. */
const PER_MINUTE = 6_000;

/** Returns what all processes below this one that have ended took; undefined where the system does not say. */
export function readProcessorMinutes() {
  let stat;
  try {
    stat = readFileSync('/proc/self/stat', 'utf8');
  } catch {
    return undefined;
  }
  // The name of the program comes second, in brackets, and may have any character.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user, system] = [fields[13], fields[14]].map((ticks) => (Number(ticks) / PER_MINUTE).toFixed(1));
  return { user, system };
}
