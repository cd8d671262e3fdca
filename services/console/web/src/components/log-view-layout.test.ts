import type { LogEntry } from '@runyard/contracts';
import { expect, test } from 'vitest';
import { heightOf, layoutOf, textOf } from './log-view-layout.ts';

const line = (message: string, fields?: Record<string, unknown>) => ({ message, fields }) as LogEntry;
const LETTER = { widthPx: 7, heightPx: 18 };
const wide = layoutOf(700, LETTER);

test('a message wraps after as many letters as fit beside what is said about it', () => {
  expect(wide).toEqual({ columns: 62, isNarrow: false, linePx: 18 });
  expect(heightOf(line('x'.repeat(62)), wide)).toEqual({ px: 18, isGuess: false });
  expect(heightOf(line('x'.repeat(63)), wide)).toEqual({ px: 36, isGuess: false });
});

test('lines within a message each have their own height, empty ones too', () => {
  expect(heightOf(line(`one\n\n${'x'.repeat(70)}`), wide).px).toBe(4 * 18);
});

test('in a narrow window the message has a line of its own', () => {
  const narrow = layoutOf(300, LETTER);
  expect(narrow).toMatchObject({ columns: 40, isNarrow: true });
  expect(heightOf(line('short'), narrow).px).toBe(36);
});

test('further fields count as part of the text', () => {
  const entry = line('x'.repeat(55), { ms: 12, reason: 'slow' });
  expect(textOf(entry).more).toBe(' ms=12 reason=slow');
  expect(heightOf(entry, wide).px).toBe(36);
});

test('the link at the end of a line takes room as well', () => {
  expect(heightOf(line('x'.repeat(58)), wide, 'run').px).toBe(18);
  expect(heightOf(line('x'.repeat(59)), wide, 'run').px).toBe(36);
});

test('a message of which the width cannot be counted is measured', () => {
  for (const message of ['\ttab', '表', '🙂', 'é']) expect(heightOf(line(message), wide).isGuess).toBe(true);
});

test('a frame that has no size yet has a layout all the same', () => {
  expect(layoutOf(0, { widthPx: 0, heightPx: 0 }).columns).toBeGreaterThan(0);
});
