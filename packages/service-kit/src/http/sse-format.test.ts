import { expect, it } from 'vitest';
import { formatSseEvent } from './sse-format.ts';

it('an event has lines that end in CRLF and the fields event, data, id in this order', () => {
  expect(formatSseEvent({ event: 'values', data: '{"a":1}', id: '17-0' })).toBe(
    'event: values\r\ndata: {"a":1}\r\nid: 17-0\r\n\r\n',
  );
});

it('an event that cannot be resumed from has no id field', () => {
  expect(formatSseEvent({ event: 'values', data: '{}' })).toBe('event: values\r\ndata: {}\r\n\r\n');
});

it('an event has no line breaks in its name and id, so that no field can be smuggled in', () => {
  expect(formatSseEvent({ event: 'custom\r\ndata: x', data: '1', id: '1\n-0' })).toBe(
    'event: customdata: x\r\ndata: 1\r\nid: 1-0\r\n\r\n',
  );
});
