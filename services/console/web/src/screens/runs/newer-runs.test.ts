import type { JournalRun, RunSearchPage } from '@runyard/contracts';
import { expect, test } from 'vitest';
import { mergeFirstPage } from './newer-runs.ts';

const page = (cursor: string | null, ...runs: string[]): RunSearchPage => ({
  runs: runs.map((text) => ({ run_id: text[0], status: text.slice(1) || 'success' }) as unknown as JournalRun),
  next_cursor: cursor,
});
const ids = (pages: RunSearchPage[]) => pages.map(({ runs }) => runs.map(({ run_id: id }) => id).join(''));

test('at the top newer runs appear, and older pages stay with what is below them', () => {
  const merged = mergeFirstPage([page('d', 'f', 'e', 'd'), page('b', 'c', 'b')], page('e', 'g', 'f', 'e'), true);
  expect(ids(merged.pages)).toEqual(['gfe', 'd', 'cb']);
  expect(merged.pages.at(-1)?.next_cursor).toBe('b');
});

test('for whoever has scrolled runs change in place, and newer ones are counted only', () => {
  const pages = [page('d', 'frunning', 'e', 'd'), page('b', 'c', 'b')];
  const merged = mergeFirstPage(pages, page('f', 'h', 'g', 'ferror'), false);
  expect(ids(merged.pages)).toEqual(['fed', 'cb']);
  expect(merged.newer).toBe(2);
  expect(merged.pages[0]?.runs[0]?.status).toBe('error');
});

test('runs that the filters no longer have go away at the top', () => {
  const merged = mergeFirstPage([page('d', 'f', 'e', 'd'), page(null, 'c')], page('c', 'f', 'd', 'c'), true);
  expect(ids(merged.pages)).toEqual(['fdc', '']);
});

test('a first page with nothing of what is shown takes its place', () => {
  const merged = mergeFirstPage([page('d', 'e', 'd'), page('b', 'c', 'b')], page('x', 'z', 'y', 'x'), true);
  expect(ids(merged.pages)).toEqual(['zyx']);
});

test('a search that has all of its runs on one page shows these', () => {
  expect(ids(mergeFirstPage([page('d', 'e', 'd'), page(null, 'c')], page(null, 'e'), true).pages)).toEqual(['e']);
});
