import { describe, expect, it } from 'vitest';
import { maskErrors } from './mask-errors.ts';

const secret = 'cannot reach postgres://kettle:hunter2@db.internal:5432/tea';
const task = { id: 't', name: 'boil', error: secret, result: {} };

describe('errors in the events of a graph', () => {
  it.each([
    ['tasks', task],
    ['tasks', { ...task, error: { name: 'KettleError', message: secret } }],
    ['checkpoints', { values: {}, tasks: [task, { ...task, error: null }] }],
    ['debug', { type: 'task_result', payload: task }],
    ['debug', { type: 'checkpoint', payload: { tasks: [task] } }],
    ['events', { event: 'on_tool_error', data: { error: secret } }],
    ['tools', { event: 'on_tool_error', name: 'boil', error: { error: 'KettleError', message: secret } }],
    ['v2.tasks', { timestamp: 1, data: task }],
    ['v2.tools', { timestamp: 1, data: { event: 'tool-error', tool_call_id: 'c', message: secret } }],
    ['v2.messages', { timestamp: 1, data: { event: 'error', message: secret } }],
  ])('%s: say what went wrong without saying where', (mode, data) => {
    const masked = maskErrors(mode, JSON.stringify(data));
    expect(masked).toContain('cannot reach');
    expect(masked).not.toMatch(/hunter2|db\.internal/);
    expect(Object.keys(JSON.parse(masked))).toEqual(Object.keys(data));
  });

  it.each([
    ['values', { error: secret }],
    ['custom', { error: secret }],
    ['tasks', { id: 't', error: null, result: { text: secret } }],
    ['tools', { event: 'on_tool_end', name: 'boil', output: { error: secret } }],
    ['v2.values', { timestamp: 1, data: { error: secret } }],
    ['v2.tools', { timestamp: 1, data: { event: 'tool-finished', tool_call_id: 'c', output: { error: secret } } }],
  ])('%s: what the graph keeps in its state is left as it is', (mode, data) => {
    const text = JSON.stringify(data);
    expect(maskErrors(mode, text)).toBe(text);
  });
});
