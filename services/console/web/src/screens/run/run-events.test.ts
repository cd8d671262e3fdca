import { expect, test } from 'vitest';
import { RunEvents } from './run-events.ts';
import type { ThreadEvent } from './thread-event.ts';

let seq = 0;
const at = (
  timestamp: number,
  method: string,
  data: Record<string, unknown>,
  namespace: string[] = [],
): ThreadEvent => {
  seq += 1;
  return { event_id: String(seq), seq, method, params: { namespace, timestamp, data } };
};
const runOf = (runId: string, begin: number, end: number) => [
  at(begin, 'lifecycle', { event: 'running' }),
  at(begin + 1, 'tasks', { id: `${runId}-t`, input: {}, metadata: { run_id: runId } }),
  at(begin + 2, 'custom', { payload: runId }),
  at(end, 'lifecycle', { event: 'completed' }),
];
const accepted = (events: ThreadEvent[], filter: RunEvents) => events.filter((event) => filter.accepts(event));
const mine = { runId: 'mine', createdAt: 5_000, startedAt: undefined, endedAt: undefined };

test('of the runs of a thread the events of one are chosen', () => {
  const [before, own, after] = [runOf('first', 1_000, 4_000), runOf('mine', 6_000, 7_000), runOf('last', 7_001, 8_000)];
  const filter = new RunEvents(mine);
  expect(accepted([...before, ...own, ...after], filter)).toEqual(own);
  expect(filter.hasEnded).toBe(true);
});

test('a run that waited for another on its thread does not show that one, though it was running already', () => {
  const filter = new RunEvents({ ...mine, createdAt: 1_500 });
  const other = runOf('other', 1_000, 4_000);
  const own = runOf('mine', 4_100, 5_000);
  expect(accepted([...other, ...own], filter)).toEqual(own);
});

test('a task of another run ends what the times had let in', () => {
  const other = runOf('other', 5_010, 6_000);
  expect(accepted(other, new RunEvents(mine))).toEqual(other.slice(0, 1));
});

test('a run without tasks in its events is chosen by its times', () => {
  const begin = at(6_000, 'lifecycle', { event: 'running' });
  const message = at(6_100, 'messages', { event: 'message-start' }, ['talk:t']);
  const filter = new RunEvents({ ...mine, startedAt: 5_990, endedAt: 7_000 });
  expect(accepted([begin, message, at(9_000, 'lifecycle', { event: 'running' })], filter)).toEqual([begin, message]);
});

test('events that come again after a break are taken once', () => {
  const own = runOf('mine', 6_000, 7_000);
  const filter = new RunEvents(mine);
  expect(accepted([...own.slice(0, 3), ...own.slice(1)], filter)).toEqual(own);
});
