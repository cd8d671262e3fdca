import { cutLine } from './summary.ts';

const CELL_MAX = 60;

/** Returns the text of a field that others wrote as a cell of a table; `-` for any other value. */
export function textOf(value: unknown): string {
  return (typeof value === 'string' || typeof value === 'number' ? cutLine(String(value), CELL_MAX) : '') || '-';
}
