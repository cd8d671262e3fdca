import { expect, it, vi } from 'vitest';
import { AUTH_EVENTS, askedEvents } from './auth-events.ts';
import { reportUncoveredEvents, uncoveredEvents } from './uncovered-events.ts';

const uncovered = (...handlers: string[]) => uncoveredEvents(new Set(handlers), AUTH_EVENTS);

it('an event counts as covered by the handler of its own name, its resource, its action, or all', () => {
  expect(uncovered('*')).toEqual([]);
  expect(uncovered('threads', 'assistants', 'crons', 'store')).toEqual([]);
  expect(uncovered('threads', 'assistants', 'crons', '*:put', '*:get')).toEqual([
    'store:search',
    'store:list_namespaces',
    'store:delete',
  ]);
  expect(uncovered('threads:create')).toEqual(AUTH_EVENTS.filter((event) => event !== 'threads:create'));
});

it('routes of the app count where handlers decide about them', () => {
  const handlers = new Set(['threads', 'assistants', 'crons', 'store']);
  expect(uncoveredEvents(handlers, askedEvents('authorized'))).toEqual(['routes:call']);
  expect(uncoveredEvents(handlers, askedEvents('authenticated'))).toEqual([]);
  expect(uncoveredEvents(new Set([...handlers, 'routes']), askedEvents('authorized'))).toEqual([]);
});

it('a warning names uncovered events and how to deny them, unless there is no on handler at all', () => {
  const warn = vi.fn();
  for (const handlers of [[], ['*']]) reportUncoveredEvents(new Set(handlers), AUTH_EVENTS, { warn });
  expect(warn).not.toHaveBeenCalled();
  reportUncoveredEvents(new Set(['threads', 'assistants', 'crons']), AUTH_EVENTS, { warn });
  expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('without a handler'), {
    events: ['store:put', 'store:get', 'store:search', 'store:list_namespaces', 'store:delete'],
    denyTheRest: expect.stringContaining("'*'"),
  });
});
