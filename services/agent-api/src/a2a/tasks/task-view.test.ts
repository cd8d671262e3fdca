import { expect, it } from 'vitest';
import type { TaskRecord } from './task-record.ts';
import { toTask } from './task-view.ts';

const record: TaskRecord = {
  taskId: 't2',
  contextId: 'c',
  runId: 'r',
  state: 'TASK_STATE_COMPLETED',
  statusAt: '2026-11-20T20:18:31.041Z',
  error: null,
  isNewest: true,
  isSuperseded: false,
};
const asked = (taskId: string) => ({
  type: 'human',
  id: `q of ${taskId}`,
  content: taskId,
  additional_kwargs: { a2a: { task_id: taskId } },
});
const said = (content: string) => ({ type: 'ai', id: `a of ${content}`, content });
const values = { messages: [asked('t1'), said('t1'), asked('t2'), said('t2')] };
const view = { historyLength: 10, historyScope: 'task', withArtifacts: true } as const;
const ids = (history: { messageId: string }[] | undefined) => history?.map(({ messageId }) => messageId);

it('the history has the messages of the task, or those of its whole context, the newest of them', () => {
  const content = { values, sent: [] };
  expect(ids(toTask(record, content, view).history)).toEqual(['q of t2', 'a of t2']);
  const whole = toTask(record, content, { ...view, historyScope: 'context', historyLength: 3 });
  expect(ids(whole.history)).toEqual(['a of t1', 'q of t2', 'a of t2']);
  expect(toTask(record, content, { ...view, historyLength: 0 })).not.toHaveProperty('history');
});

it('a task in flight shows what was sent, and no answer of an earlier one', () => {
  const working = { ...record, state: 'TASK_STATE_WORKING' } as const;
  const content = { values: { messages: [asked('t1'), said('t1')] }, sent: [asked('t2')] };
  const task = toTask(working, content, view);
  expect(ids(task.history)).toEqual(['q of t2']);
  expect(task).not.toHaveProperty('artifacts');
});

it('a graph without messages answers with its state, and a failed task with its error', () => {
  const done = toTask(record, { values: { sum: 3, __interrupt__: [] }, sent: [] }, view);
  expect(done.artifacts).toEqual([{ artifactId: 'r', name: 'Assistant Response', parts: [{ data: { sum: 3 } }] }]);
  const failed = { ...record, state: 'TASK_STATE_FAILED', error: { error: 'Error', message: 'no' } } as const;
  expect(toTask(failed, { values, sent: [] }, view).status.message?.parts).toEqual([{ text: 'Error: no' }]);
});
