import { parseAst } from 'vitest/node';

/** One regular expression of a source file. */
export interface Expression {
  source: string;
  flags: string;
}

/** Matches a slash where an expression may begin; without one, a file need not be parsed. */
const MAY_BEGIN = /(?:[=(,:[!&|?;]|=>|return|case)\s?\/(?![/*])|^\s{0,40}\/(?![/*])/m;

/** Returns the regular expressions that a source file writes out. */
export function expressionsIn(text: string, file: string): Expression[] {
  const found: Expression[] = [];
  if (!MAY_BEGIN.test(text)) return found;
  collect(parseAst(text, { lang: file.endsWith('x') ? 'tsx' : 'ts' }), found);
  return found;
}

function collect(node: unknown, found: Expression[]): void {
  if (typeof node !== 'object' || node === null) return;
  const { regex } = node as { regex?: { pattern: string; flags: string } };
  if (regex) found.push({ source: regex.pattern, flags: regex.flags });
  for (const part of Object.values(node)) collect(part, found);
}
