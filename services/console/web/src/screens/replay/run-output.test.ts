import { expect, test } from 'vitest';
import { outputOf } from './run-output.ts';

const message = (id: string) => ({ id, type: 'ai', content: id });

test('the messages of a run are those that were not there before it', () => {
  const values = { messages: [message('a'), message('b')], score: 3 };
  const { messages, rest } = outputOf(values, { messages: [message('a')] }, null);
  expect(messages?.map(({ id }) => id)).toEqual(['b']);
  expect(rest).toEqual({ score: 3 });
});

test('an output has the values that its schema names, and is nothing beside messages alone', () => {
  const schema = { properties: { answer: {}, messages: {} } };
  expect(outputOf({ answer: 1, draft: 2 }, undefined, schema)).toEqual({ messages: undefined, rest: { answer: 1 } });
  expect(outputOf({ messages: [message('a')], draft: 2 }, undefined, schema).rest).toBeUndefined();
  expect(outputOf({}, undefined, schema).rest).toEqual({});
});
