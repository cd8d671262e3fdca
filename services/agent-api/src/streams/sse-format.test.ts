import { expect, it } from 'vitest';
import { formatSseEvent } from './sse-format.ts';

it('ends lines in CRLF and orders the fields event, data, id', () => {
  expect(formatSseEvent({ event: 'values', data: '{"a":1}', id: '17-0' })).toBe(
    'event: values\r\ndata: {"a":1}\r\nid: 17-0\r\n\r\n',
  );
});

it('has no id field for an event that cannot be resumed from', () => {
  expect(formatSseEvent({ event: 'values', data: '{}' })).toBe('event: values\r\ndata: {}\r\n\r\n');
});

it('strips line breaks from names and ids, so that no field can be smuggled in', () => {
  expect(formatSseEvent({ event: 'custom\r\ndata: x', data: '1', id: '1\n-0' })).toBe(
    'event: customdata: x\r\ndata: 1\r\nid: 1-0\r\n\r\n',
  );
});
