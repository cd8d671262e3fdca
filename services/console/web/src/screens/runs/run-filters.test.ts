import { expect, test } from 'vitest';
import { type RunFilters, readRunFilters, selectionOf, toggleValue } from './run-filters.ts';

const ID = '01a22fe5-7393-76dc-8c46-c1ed6ee8a749';
const ALL: RunFilters = {
  status: 'error,timeout',
  deployment: ID,
  graph: 'agent,chat',
  assistant: ID,
  thread: ID,
  error: 'no customer',
  metadata: 'customer=c-42&tier=3',
  range: 'day',
  slow: 1_500,
  tokens: 20_000,
  creator: 'ada, of sales',
  key: 'k-1',
};

test('filters come back from an address as they were put there', () => {
  expect(readRunFilters({ ...ALL })).toEqual(ALL);
  const own = { from: '2026-11-20T00:00:00.000Z', to: '2026-11-21T00:00:00.000Z' };
  expect(readRunFilters(own)).toEqual(own);
});

test('what is no filter is left out of an address that somebody has written', () => {
  const written = {
    status: 'error,great',
    deployment: 'mine',
    thread: 7,
    range: 'toString',
    slow: 'long',
    from: 'x',
    page: 3,
  };
  expect(readRunFilters(written)).toEqual({ status: 'error' });
  expect(readRunFilters({ range: 'year', slow: -1, tokens: 1.5, graph: ' ', status: [] })).toEqual({});
});

test('words that look like numbers are still words', () => {
  expect(readRunFilters({ error: 404, graph: true })).toEqual({ error: '404', graph: 'true' });
});

test('a search asks for all of the filters', () => {
  expect(selectionOf(ALL)).toEqual({
    filters: {
      statuses: ['error', 'timeout'],
      deployment_ids: [ID],
      graph_ids: ['agent', 'chat'],
      assistant_ids: [ID],
      thread_ids: [ID],
      error: 'no customer',
      metadata: { customer: 'c-42', tier: 3 },
      min_duration_ms: 1_500,
      min_total_tokens: 20_000,
      creators: ['ada, of sales'],
      key_ids: ['k-1'],
    },
    withinMs: 86_400_000,
  });
});

test('a range of one’s own holds in place of one that ends now', () => {
  const { filters, withinMs } = selectionOf({ range: 'hour', from: '2026-11-20T00:00:00.000Z' });
  expect(filters.created_after).toBe('2026-11-20T00:00:00.000Z');
  expect(withinMs).toBeUndefined();
});

test('a value is taken away by choosing it again', () => {
  const once = toggleValue({ error: 'x' }, 'status', 'error');
  expect(once).toEqual({ error: 'x', status: 'error' });
  expect(toggleValue(toggleValue(once, 'status', 'timeout'), 'status', 'error').status).toBe('timeout');
  expect(toggleValue(once, 'status', 'error').status).toBeUndefined();
});
