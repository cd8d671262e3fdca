import { CliError } from '../cli-error.ts';
import { parseJson } from './json.ts';

/**
 * Parses JSON, and refuses whole numbers that a double cannot hold: Python has them, and they would arrive as others.
 *
 * @throws CliError
 */
export function parseExactly(text: string, what: string): unknown {
  const value = parseJson(text, what);
  const inexact = /\d{16}/.test(text) ? findInexact(text) : undefined;
  if (inexact === undefined) return value;
  throw new CliError(`${what} has the number ${inexact}, which this command cannot copy exactly.`);
}

const LONG_WHOLE_NUMBER = /^\d{16,}$/;

function findInexact(text: string): string | undefined {
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '"') at = endOfString(text, at);
    else if (isOfNumber(text[at])) {
      const start = at;
      while (isOfNumber(text[at + 1])) at += 1;
      const number = text.slice(start, at + 1);
      if (LONG_WHOLE_NUMBER.test(number) && BigInt(number) !== BigInt(Number(number))) return number;
    }
  }
  return undefined;
}

function isOfNumber(character: string | undefined): boolean {
  return character !== undefined && '0123456789.eE+'.includes(character);
}

/** Returns the place of the closing quote. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}
