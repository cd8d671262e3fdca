import { expect, it } from 'vitest';
import { exportName, selectionOf } from './audit-filters.ts';

it('the minute with which a time ends is shown as well', () => {
  const { start_time: start, end_time: end } = selectionOf({ from: '2026-12-01T06:00', to: '2026-12-01T06:00' });
  expect(Date.parse(end!) - Date.parse(start!)).toBe(59_999);
});

it('a time that is none asks for everything instead of failing', () => {
  expect(selectionOf({ from: 'yesterday', action: 'member.added', actor: 'a' })).toEqual({
    action: 'member.added',
    actor_id: 'a',
  });
});

it('the name of an export has no character that file systems refuse', () => {
  expect(exportName(new Date('2026-12-01T06:00:01.500Z'))).toBe('audit-2026-12-01T06-00-01.jsonl');
});
