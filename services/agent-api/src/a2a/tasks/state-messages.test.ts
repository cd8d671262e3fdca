import { expect, it } from 'vitest';
import { lastAnswer, messagesOfTask, toHistory } from './state-messages.ts';

const asked = (taskId: string, id: string) => ({
  type: 'human',
  id,
  content: id,
  additional_kwargs: { a2a: { task_id: taskId } },
});
const said = (id: string, content: unknown = id) => ({ type: 'ai', id, content });
const thread = [asked('t1', 'q1'), said('a1'), asked('t2', 'q2'), said('a2'), { type: 'tool', content: 'x' }];
const ids = (messages: { id?: unknown }[]) => messages.map(({ id }) => id);

it('a task has the messages from its first up to the first of another', () => {
  expect(ids(messagesOfTask(thread, 't1', false))).toEqual(['q1', 'a1']);
  expect(ids(messagesOfTask(thread, 't2', true)).slice(0, 2)).toEqual(['q2', 'a2']);
  expect(messagesOfTask(thread, 't3', false)).toEqual([]);
});

it('the newest task has the last turn where the graph has dropped its message', () => {
  expect(ids(messagesOfTask([said('a'), { type: 'human', id: 'q' }, said('b')], 't', true))).toEqual(['q', 'b']);
  expect(ids(messagesOfTask([said('a')], 't', true))).toEqual(['a']);
});

it('the answer is the last message of the agent that says something, after that of the user', () => {
  expect(lastAnswer([...thread, said('empty', '')])).toEqual([{ text: 'a2' }]);
  expect(lastAnswer([said('before'), asked('t', 'q')])).toBeUndefined();
});

it('the history has what users and the agent said', () => {
  const history = toHistory(thread, { contextId: 'c', taskId: 't2' });
  expect(history.map(({ role, taskId }) => [role, taskId])).toEqual([
    ['ROLE_USER', 't1'],
    ['ROLE_AGENT', 't1'],
    ['ROLE_USER', 't2'],
    ['ROLE_AGENT', 't2'],
  ]);
});
