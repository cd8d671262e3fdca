import { expect, it, vi } from 'vitest';
import { AUTH_EVENTS } from './auth-events.ts';
import { reportUncoveredEvents, uncoveredEvents } from './uncovered-events.ts';

const uncovered = (...handlers: string[]) => uncoveredEvents(new Set(handlers));

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

it('a warning names uncovered events and how to deny them, unless there is no on handler at all', () => {
  const warn = vi.fn();
  for (const handlers of [[], ['*']]) reportUncoveredEvents(new Set(handlers), { warn });
  expect(warn).not.toHaveBeenCalled();
  reportUncoveredEvents(new Set(['threads', 'assistants', 'crons']), { warn });
  expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('without a handler'), {
    events: ['store:put', 'store:get', 'store:search', 'store:list_namespaces', 'store:delete'],
    denyTheRest: expect.stringContaining("'*'"),
  });
});
