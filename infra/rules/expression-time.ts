import { attacksOn } from './expression-attacks.ts';

/** An expression that doubles its time with each character, or takes a high power of them, is found while it ends. */
const FIRST_LENGTHS = [24, 100, 500, 2_000];
const FIRST_LIMIT_MS = 40;
const LENGTH = 16_000;
/** A text this much shorter takes as much less time, or a sixteenth where the time grows with the square. */
const QUARTER = LENGTH / 4;
const GROWTH_MAX = 8;
/** A search that takes no longer is quick, however its time grows. */
const QUICK_MS = 10;
/** The quarter is tried before: where it takes no longer, the whole is quick even if its time grows with the square. */
const PREVIEW_MS = QUICK_MS / 20;
const ATTEMPTS = 3;

/** Returns the beginning of a text on which an expression takes longer than its length explains, or null. */
export function findSlowText(source: string, flags: string): string | null {
  const expression = new RegExp(source, flags);
  const slow = attacksOn(source, flags).find((attack) => {
    if (FIRST_LENGTHS.some((length) => timeOf(expression, attack(length), FIRST_LIMIT_MS) > FIRST_LIMIT_MS))
      return true;
    const preview = timeOf(expression, attack(QUARTER), PREVIEW_MS);
    if (preview <= PREVIEW_MS) return false;
    if (preview > 2 * FIRST_LIMIT_MS) return true;
    const whole = timeOf(expression, attack(LENGTH), QUICK_MS);
    return whole > QUICK_MS && whole > GROWTH_MAX * timeOf(expression, attack(QUARTER), 0);
  });
  return slow ? slow(60).slice(0, 60) : null;
}

/**
 * Returns milliseconds of processor time that a search takes: the least of some attempts, since anything else in this
 * process may take time too, unless one takes no more than is enough.
 */
function timeOf(expression: RegExp, text: string, enoughMs: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < ATTEMPTS && least > enoughMs; attempt++) {
    const start = process.cpuUsage();
    text.replace(expression, '');
    const { user, system } = process.cpuUsage(start);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}
