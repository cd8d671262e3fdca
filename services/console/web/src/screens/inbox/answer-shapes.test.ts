import { describe, expect, it } from 'vitest';
import { answerShapeOf, inboxAnswer, questionText, readFreeAnswer, reviewAnswer } from './answer-shapes.ts';

const ACTION = { action: 'send', args: { to: 'ada' } };
const CONFIG = { allow_accept: true, allow_edit: true, allow_respond: false, allow_ignore: true };

function inboxShape(value: unknown) {
  const shape = answerShapeOf({ value });
  if (shape.kind !== 'agent-inbox') throw new Error(shape.kind);
  return shape;
}

function reviewShape(value: unknown) {
  const shape = answerShapeOf({ value });
  if (shape.kind !== 'review') throw new Error(shape.kind);
  return shape;
}

describe('the form of an answer', () => {
  it('is that of the schema which the graph gives, before any other', () => {
    const schema = { type: 'object' };
    const value = { action_request: ACTION, config: CONFIG };
    expect(answerShapeOf({ value, response_schema: schema })).toEqual({ kind: 'schema', schema });
    expect(answerShapeOf({ value: 'Why?', response_schema: null })).toEqual({ kind: 'free' });
  });

  it('offers of an agent-inbox question only what its config allows', () => {
    expect(inboxShape({ action_request: ACTION, config: CONFIG }).action.decisions).toEqual([
      'accept',
      'edit',
      'ignore',
    ]);
  });

  it('answers a list of one agent-inbox question with a list', () => {
    const { action, isList } = inboxShape([{ action_request: ACTION, config: CONFIG }]);
    expect(inboxAnswer(action, { decision: 'accept' }, isList)).toEqual([{ type: 'accept', args: null }]);
    expect(inboxAnswer(action, { decision: 'edit', args: { to: 'bob' } }, false)).toEqual({
      type: 'edit',
      args: { action: 'send', args: { to: 'bob' } },
    });
    expect(inboxAnswer(action, { decision: 'respond', text: 'no' }, false)).toEqual({ type: 'response', args: 'no' });
  });

  it('decides on each action of the middleware, in the spelling of its language', () => {
    const python = reviewShape({
      action_requests: [
        { name: 'send', args: { to: 'ada' } },
        { name: 'drop', args: {} },
      ],
      review_configs: [
        { action_name: 'drop', allowed_decisions: ['reject'] },
        { action_name: 'send', allowed_decisions: ['approve', 'edit'] },
      ],
    });
    expect(python.actions.map(({ decisions }) => decisions)).toEqual([['accept', 'edit'], ['ignore']]);
    const decided = [
      { decision: 'edit', args: { to: 'bob' } },
      { decision: 'ignore', text: 'too much' },
    ] as const;
    expect(reviewAnswer(python.actions, [...decided], python.isCamelCase)).toEqual({
      decisions: [
        { type: 'edit', edited_action: { name: 'send', args: { to: 'bob' } } },
        { type: 'reject', message: 'too much' },
      ],
    });
    const javascript = reviewShape({
      actionRequests: [{ name: 'send', args: {} }],
      reviewConfigs: [{ actionName: 'send', allowedDecisions: ['edit'] }],
    });
    expect(reviewAnswer(javascript.actions, [{ decision: 'edit' }], javascript.isCamelCase)).toEqual({
      decisions: [{ type: 'edit', editedAction: { name: 'send', args: {} } }],
    });
  });

  it('is free for values that only look like a known question', () => {
    for (const value of [null, 3, [], { action_request: 'send' }, { action_requests: [] }, { action_requests: [1] }]) {
      expect(answerShapeOf({ value })).toEqual({ kind: 'free' });
    }
  });

  it('reads JSON as JSON and all else as text', () => {
    expect(readFreeAnswer('{"a":1}')).toEqual({ a: 1 });
    expect(readFreeAnswer('true')).toBe(true);
    expect(readFreeAnswer('yes')).toBe('yes');
    expect(readFreeAnswer('')).toBe('');
  });

  it('has the question in words where the value has it', () => {
    expect(questionText('Why?')).toBe('Why?');
    expect(questionText({ question: 'May I?' })).toBe('May I?');
    expect(questionText([{ action_request: ACTION, config: CONFIG }])).toBe('May send be done?');
    expect(questionText({ a: 1 })).toBeUndefined();
  });
});
