import { expect, test } from 'vitest';
import recorded from './recorded-run.json' with { type: 'json' };
import type { ThreadEvent } from './thread-event.ts';
import { momentOf, Timeline } from './timeline.ts';
import { applyEvent } from './timeline-events.ts';
import { applyStates, type HistoryState } from './timeline-history.ts';

/** An agent as one node of another graph: it calls a tool, and answers. */
const EVENTS = recorded.events as unknown as ThreadEvent[];
const HISTORY = recorded.states as unknown as { namespace: string; states: HistoryState[] }[];

const lines = (timeline: Timeline) =>
  timeline.rows().map(({ id, level }) => {
    const { kind, title, status, text } = timeline.get(id)!;
    return [`${'  '.repeat(level - 1)}${kind}`, title, status, text].filter(Boolean).join(' ');
  });
const ids = (timeline: Timeline) => timeline.rows().map(({ id }) => id);
const applyHistory = (timeline: Timeline) => {
  for (const { states } of HISTORY) applyStates(timeline, states);
};
const ofHistory = () => {
  const timeline = new Timeline();
  applyHistory(timeline);
  return timeline;
};

let seq = 0;
const event = (method: string, namespace: string[], data: Record<string, unknown>): ThreadEvent => {
  seq += 1;
  return { event_id: String(seq), seq, method, params: { namespace, timestamp: 1_000 + seq, data } };
};

test('a history shows nodes, messages, tool calls and checkpoints, those of graphs inside below their node', () => {
  expect(lines(ofHistory())).toEqual([
    'checkpoint Checkpoint of step -1 input',
    'checkpoint Checkpoint of step 0',
    'task desk success',
    '  checkpoint Checkpoint of step -1 input',
    '  checkpoint Checkpoint of step 0',
    '  task model success',
    '    message Model message success Calls weather',
    '  checkpoint Checkpoint of step 1',
    '  task tools success',
    '    tool weather success It rains in Oslo.',
    '  checkpoint Checkpoint of step 2',
    '  task model success',
    '    message Model message success It rains in Oslo.',
    '  checkpoint Checkpoint of step 3',
    'checkpoint Checkpoint of step 1',
  ]);
});

test('a reload in the middle of a run ends with the same list as watching all of it, and as its history', () => {
  const expected = ofHistory();
  for (let cut = 0; cut <= EVENTS.length; cut++) {
    const timeline = new Timeline();
    for (const each of EVENTS.slice(0, cut)) applyEvent(timeline, each);
    applyHistory(timeline);
    for (const each of EVENTS.slice(cut)) applyEvent(timeline, each);
    expect(lines(timeline), `history after ${cut} events`).toEqual(lines(expected));
    expect(ids(timeline)).toEqual(ids(expected));
  }
});

test('events that come again change nothing', () => {
  const timeline = new Timeline();
  for (const each of [...EVENTS, ...EVENTS]) applyEvent(timeline, each);
  const once = new Timeline();
  for (const each of EVENTS) applyEvent(once, each);
  expect(lines(timeline)).toEqual(lines(once));
});

test('a message grows in place, and is whole at its end', () => {
  const timeline = new Timeline();
  const space = ['talk:t1'];
  const message = (data: Record<string, unknown>) =>
    applyEvent(timeline, event('messages', space, { run_id: 'r', ...data }));
  message({ event: 'message-start', id: 'm1', role: 'ai' });
  message({ event: 'content-block-start', index: 0, content: { type: 'text', text: '' } });
  message({ event: 'content-block-delta', index: 0, delta: { type: 'text-delta', text: 'Hel' } });
  message({ event: 'content-block-delta', index: 0, delta: { type: 'text-delta', text: 'lo' } });
  const rows = timeline.rows();
  expect(timeline.get('message:m1')).toMatchObject({ text: 'Hello', status: 'running', parent: 'task:t1' });
  message({ event: 'content-block-finish', index: 0, content: { type: 'text', text: 'Hello.' } });
  message({ event: 'message-finish', reason: 'stop' });
  expect(timeline.get('message:m1')).toMatchObject({ text: 'Hello.', status: 'success' });
  expect(timeline.rows()).toBe(rows);
});

test('a question stands once, at the innermost node that asks it', () => {
  const timeline = new Timeline();
  const interrupts = [{ id: 'i1', value: 'May I?' }];
  applyEvent(timeline, event('tasks', [], { id: 'outer', name: 'desk', input: {} }));
  applyEvent(timeline, event('tasks', ['desk:outer'], { id: 'inner', name: 'ask', input: {} }));
  applyEvent(timeline, event('input.requested', ['desk:outer'], { interrupt_id: 'i1', payload: 'May I?' }));
  applyEvent(
    timeline,
    event('tasks', ['desk:outer'], { id: 'inner', name: 'ask', result: {}, interrupts, error: null }),
  );
  applyEvent(timeline, event('tasks', [], { id: 'outer', name: 'desk', result: {}, interrupts, error: null }));
  expect(lines(timeline)).toEqual([
    'task desk waiting',
    '  task ask waiting',
    '    interrupt Interrupt waiting May I?',
  ]);
});

test('a node that another attempt runs again is shown once, with what came last', () => {
  const timeline = new Timeline();
  applyEvent(timeline, event('tasks', [], { id: 't', name: 'boil', input: {} }));
  applyEvent(timeline, event('tasks', [], { id: 't', name: 'boil', error: { error: 'Lost', message: 'away' } }));
  applyEvent(timeline, event('tasks', [], { id: 't', name: 'boil', input: {} }));
  expect(lines(timeline)).toEqual(['task boil running']);
  applyEvent(timeline, event('tasks', [], { id: 't', name: 'boil', result: { heat: 1 }, error: null }));
  expect(lines(timeline)).toEqual(['task boil success']);
});

test('what a resumed node wrote shows its question as answered', () => {
  const asked = { id: 'i1', value: 'May I?' };
  const state = (id: string, tasks: unknown[], writes: unknown): HistoryState =>
    ({
      checkpoint: { checkpoint_id: id, checkpoint_ns: '' },
      parent_checkpoint: null,
      created_at: '2026-12-01T04:42:09.799Z',
      metadata: { source: 'loop', step: 1, writes },
      tasks,
    }) as unknown as HistoryState;
  const task = { id: 't', name: 'ask', error: null, interrupts: [asked], checkpoint: null, result: null };
  const before = state('1f1ed41f-ec8b-66a0-8001-82f97c7f7681', [task], {});
  const after = state('1f1ed424-a791-6630-8002-546e8fc016c7', [], { ask: { decision: 'yes' } });
  const waiting = new Timeline();
  applyStates(waiting, [before]);
  expect(waiting.get('interrupt:i1')?.status).toBe('waiting');
  const answered = new Timeline();
  applyStates(answered, [before], after);
  expect(answered.get('interrupt:i1')?.status).toBe('success');
  expect(answered.get('task:t')).toMatchObject({ status: 'success', details: { output: { decision: 'yes' } } });
});

test('missing events leave a line that says so', () => {
  const timeline = new Timeline();
  applyEvent(timeline, event('gap', [], { reason: 'expired', after: 7 }));
  expect(lines(timeline)).toEqual(['gap Gap Events are missing here: expired']);
});

test('the id of a checkpoint has the moment of its making in it', () => {
  const moment = momentOf('1f1ed419-1ae9-6170-8001-67d32005e7b5');
  expect(Math.abs(moment! - Date.parse('2026-12-01T04:42:09.799Z'))).toBeLessThan(5);
  expect(momentOf('cp-1')).toBeUndefined();
});
