import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, it } from 'vitest';
import { ERROR_CATALOGUE } from './catalogue.ts';
import { servicePages } from './error-page-files.ts';
import { fillErrorTables, renderErrorPage } from './error-pages.ts';

const { errorPage, pages } = servicePages();

it('the page of error codes matches the catalogue (else: npm run generate:docs)', () => {
  expect(readFileSync(errorPage, 'utf8')).toBe(renderErrorPage());
});

it('every table of failure modes has the meanings and remedies of the catalogue (else: npm run generate:docs)', () => {
  const old = pages.filter((page) => fillErrorTables(readFileSync(page, 'utf8')) !== readFileSync(page, 'utf8'));
  expect(old.map((page) => basename(page))).toEqual([]);
});

it('every code in a table of failure modes is in the catalogue', () => {
  const unknown = pages.flatMap((page) => unknownCodesIn(readFileSync(page, 'utf8')));
  expect(unknown).toEqual([]);
});

it('an unknown code in a table is found, and an old text is replaced', () => {
  const row = (code: string) =>
    `| Code | What you see | What it means | What to do |\n|---|---|---|---|\n| ${code} | 409 | old | old |\n`;
  expect(unknownCodesIn(row('`thread_lazy`'))).toEqual(['`thread_lazy`']);
  const { meaning, remedy } = ERROR_CATALOGUE.thread_busy;
  expect(fillErrorTables(row('`thread_busy`'))).toContain(`| \`thread_busy\` | 409 | ${meaning} | ${remedy} |`);
});

/** Returns the first cells of tables with codes that are no code of the catalogue. */
function unknownCodesIn(page: string): string[] {
  const tables = [...page.matchAll(/^\| Code \|.*\n\|[-|]+\n((?:\|.*\n)+)/gm)].map(([, rows]) => rows!);
  const cells = tables.flatMap((rows) => [...rows.matchAll(/^\| (.*?) \|/gm)].map(([, cell]) => cell!));
  return cells.filter((cell) => !Object.hasOwn(ERROR_CATALOGUE, cell.replaceAll('`', '')));
}
