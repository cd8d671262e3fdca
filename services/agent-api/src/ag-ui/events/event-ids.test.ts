import { expect, it } from 'vitest';
import { BEGINNING, formatPlace, isAfter, parsePlace } from './event-ids.ts';

const entryId = '1795206692697-3';

it('the id of an event says where to go on, also between two events of one entry', () => {
  const place = { entryId, index: 2 };
  expect(parsePlace(formatPlace(place))).toEqual(place);
  expect(parsePlace(formatPlace(BEGINNING))).toEqual(BEGINNING);
  expect(isAfter({ entryId, index: 3 }, place)).toBe(true);
  expect(isAfter({ entryId: '1795206692697-10', index: 0 }, place)).toBe(true);
  expect(isAfter(place, place)).toBe(false);
  expect(isAfter({ entryId, index: 0 }, BEGINNING)).toBe(true);
});

it.each(['', 'x', '1', '1795206692697-3', '1795206692697-3.', '1-2.3.4', `1-${'9'.repeat(20)}.1`])(
  '%j is the id of no event',
  (text) => {
    expect(parsePlace(text)).toBeUndefined();
  },
);
