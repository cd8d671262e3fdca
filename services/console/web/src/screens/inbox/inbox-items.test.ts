import { describe, expect, it } from 'vitest';
import { type InboxItem, itemAfter, itemOf, orderInbox, type WaitingThread } from './inbox-items.ts';

const NOW = Date.parse('2026-12-01T12:00:00Z');
const DEPLOYMENT = { id: 'd', name: 'probe', display_name: null };

function thread(changes: Partial<WaitingThread> = {}): WaitingThread {
  const at = '2026-12-01T10:00:00Z';
  return {
    thread_id: 't',
    metadata: {},
    updated_at: at,
    state_updated_at: at,
    interrupts: {},
    error: null,
    ...changes,
  };
}

function item(key: string, since: string, due?: string): InboxItem {
  const waiting = thread({ thread_id: key, state_updated_at: since, metadata: { runyard_due: due } });
  return itemOf(DEPLOYMENT, waiting, ['node'])!;
}

describe('the inbox', () => {
  it('leaves out threads that ask nothing and have no node left', () => {
    expect(itemOf(DEPLOYMENT, thread(), [])).toBeUndefined();
    expect(itemOf(DEPLOYMENT, thread(), ['act'])).toMatchObject({ questions: [], next: ['act'] });
  });

  it('has the questions of all tasks of a thread as one item', () => {
    const interrupts = { a: [{ id: '1', value: 1 }], b: [{ id: '2', value: 2 }] };
    expect(itemOf(DEPLOYMENT, thread({ interrupts }), [])?.questions.map(({ id }) => id)).toEqual(['1', '2']);
  });

  it('takes no deadline that is no moment, and no assignee that is no name', () => {
    const metadata = { runyard_due: 'soon', runyard_assignee: 3 };
    expect(itemOf(DEPLOYMENT, thread({ metadata }), ['act'])).toMatchObject({ due: undefined, assignee: undefined });
  });

  it('shows what is overdue first, by its deadline, and then the newest', () => {
    const items = [
      item('old', '2026-12-01T08:00:00Z'),
      item('new', '2026-12-01T11:00:00Z', '2026-12-02T00:00:00Z'),
      item('late', '2026-12-01T07:00:00Z', '2026-12-01T11:00:00Z'),
      item('latest', '2026-12-01T06:00:00Z', '2026-12-01T09:00:00Z'),
    ];
    expect(orderInbox(items, NOW).map(({ threadId }) => threadId)).toEqual(['latest', 'late', 'new', 'old']);
  });

  it('goes on with the item after one that was answered, and at the end with the one before', () => {
    const items = ['a', 'b', 'c'].map((key) => item(key, '2026-12-01T08:00:00Z'));
    expect(itemAfter(items, 'd/b')?.threadId).toBe('c');
    expect(itemAfter(items, 'd/c')?.threadId).toBe('b');
    expect(itemAfter(items.slice(0, 1), 'd/a')).toBeUndefined();
  });
});
