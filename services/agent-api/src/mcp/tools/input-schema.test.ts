import { expect, it } from 'vitest';
import { toGraphInput, toolInput, toolOutput } from './input-schema.ts';

const MESSAGE = { type: 'object', properties: { content: { $ref: '#/definitions/Content' } } };

it('messages shrink to one text, and the definitions that they alone needed are left out', () => {
  const schema = {
    type: 'object',
    properties: {
      messages: { type: 'array', items: { $ref: '#/definitions/Message' } },
      tree: { $ref: '#/definitions/Tree' },
    },
    definitions: {
      Message: MESSAGE,
      Content: { type: 'string' },
      Tree: { properties: { branches: { type: 'array', items: { $ref: '#/definitions/Tree' } } } },
    },
  };
  const input = toolInput(schema);
  expect(input).toMatchObject({
    hasText: true,
    schema: { properties: { messages: { type: 'string' }, tree: {} }, required: ['messages'] },
  });
  expect(Object.keys(input!.schema.definitions as object)).toEqual(['Tree']);
  expect(toGraphInput({ messages: 'hi', tree: 1 }, input!)).toEqual({
    messages: [{ type: 'human', content: 'hi' }],
    tree: 1,
  });
  const list = { messages: [{ role: 'user', content: 'hi' }] };
  expect(toGraphInput(list, input!)).toBe(list);
});

it('any other schema of an object stays as it is, and of nothing else there is no tool', () => {
  const schema = { $schema: 'https://json-schema.org/draft/2020-12/schema', $defs: { A: {} }, properties: { a: {} } };
  expect(toolInput(schema)).toEqual({ schema: { ...schema, type: 'object' }, hasText: false });
  expect(toolInput({ type: 'string' })).toBeUndefined();
  const referring = { $ref: '#/definitions/Input', definitions: { Input: { type: 'object', properties: { a: {} } } } };
  expect(toolInput(referring)?.schema).toMatchObject({ type: 'object', properties: { a: {} } });
});

it('the schema of an output names its fields, and promises no types', () => {
  const properties = { count: { type: 'number', description: 'How many.' }, at: { type: 'string', title: 'At' } };
  expect(toolOutput({ type: 'object', properties, required: ['count'] })).toEqual({
    type: 'object',
    properties: { count: { description: 'How many.' }, at: { title: 'At' } },
  });
});
