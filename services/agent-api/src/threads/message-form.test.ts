import { expect, it } from 'vitest';
import { completeMessages } from './message-form.ts';

it('messages get the fields that are not set', () => {
  const human = { type: 'human', content: 'hi', id: 'm1', additional_kwargs: {}, response_metadata: {} };
  const ai = { type: 'ai', content: 'hello', id: 'm2', name: 'bot', additional_kwargs: {}, response_metadata: {} };
  expect(completeMessages({ messages: [human, ai], nested: { last: { ...ai } } })).toMatchObject({
    messages: [
      { name: null, example: false },
      { name: 'bot', example: false, tool_calls: [], invalid_tool_calls: [], usage_metadata: null },
    ],
    nested: { last: { usage_metadata: null } },
  });
});

it('objects that only look a little like messages are unchanged', () => {
  const values = { entry: { type: 'human', content: 'x' }, n: 1, none: null };
  expect(completeMessages(structuredClone(values))).toEqual(values);
});
